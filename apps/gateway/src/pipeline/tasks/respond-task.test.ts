import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { openaiSpeech } from '../../dialects/tasks/audio';
import { openPipeline, type Pipeline, SECRET } from '../open-pipeline.fixture';
import { handleTask } from './handle-task';
import { SPEECH } from './kinds';
import { LoggedStream, loggedAnswer, loggedRequest } from './logged-task';

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline({ project: { unknownModelPolicy: 'allow_unpriced' } });
});
afterEach(() => pipeline.close());

const event = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;
const delta = (audio: string) => event({ type: 'speech.audio.delta', audio: Buffer.from(audio).toString('base64') });
const done = event({ type: 'speech.audio.done', usage: { input_tokens: 3, output_tokens: 7 } });

/** A vendor whose events the test sends; its answer ends by `end`. */
function speaks() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (one) => {
      controller = one;
    },
  });
  pipeline.world.scripts = [() => new Response(body, { headers: { 'content-type': 'text/event-stream' } })];
  return { send: (text: string) => controller?.enqueue(Buffer.from(text)), end: () => controller?.close() };
}

const say = (more: object = {}) =>
  handleTask(
    pipeline.services,
    { task: SPEECH, dialect: openaiSpeech },
    new Request('http://gateway.test/v1/audio/speech', {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-tts', input: 'hello', voice: 'alloy', ...more }),
    }),
  );

const underWay = () => pipeline.services.openRequests.count;
const ended = async () => {
  while (underWay() > 0) await Bun.sleep(1);
};

test('speech that is there at once is given whole, and its vendor may end its answer in peace', async () => {
  const vendor = speaks();
  vendor.send(delta('one ') + delta('two') + done);
  const response = await say();
  expect(await response.text()).toBe('one two');
  expect([response.headers.get('content-type'), underWay()]).toEqual(['audio/mpeg', 1]);
  expect(await pipeline.rows()).toMatchObject([{ status: 'success', tokensIn: 3, tokensOut: 7 }]);
  vendor.end();
  await ended();
  expect(await pipeline.rows()).toEqual([]);
});

test('speech goes on as it comes, and is settled before its last bytes', async () => {
  const vendor = speaks();
  vendor.send(delta('one '));
  const response = await say();
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('one ');
  expect(await pipeline.rows()).toEqual([]);
  vendor.send(delta('two') + done);
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('two');
  expect(await pipeline.rows()).toMatchObject([{ status: 'success', tokensOut: 7 }]);
  vendor.end();
  expect((await reader.read()).done).toBe(true);
  await ended();
});

test('events stay a stream, with whatever follows the last of them', async () => {
  const vendor = speaks();
  vendor.send(delta('one') + done);
  const response = await say({ stream_format: 'sse' });
  vendor.send('data: [DONE]\n\n');
  vendor.end();
  expect(await response.text()).toBe(`${delta('one')}${done}data: [DONE]\n\n`);
  await ended();
});

test('speech that ends before its last event breaks off, and is booked', async () => {
  const vendor = speaks();
  vendor.send(delta('one'));
  const response = await say();
  vendor.end();
  await expect(response.text()).rejects.toThrow();
  await ended();
  expect(await pipeline.rows()).toMatchObject([{ status: 'error' }]);
});

/** The stored request and answer of the only request. */
const stored = () => {
  expect(pipeline.world.bodies).toHaveLength(1);
  const [{ request, response = '' } = {}] = pipeline.world.bodies;
  return { request, answer: JSON.parse(response) };
};
const inBase64 = (text: string) => Buffer.from(text).toString('base64');

describe('the body log', () => {
  test('has the sound of a stream', async () => {
    const vendor = speaks();
    vendor.send(delta('one ') + delta('two') + done);
    vendor.end();
    await (await say()).text();
    await ended();
    expect(stored()).toMatchObject({
      request: { input: 'hello' },
      answer: { audio: { type: 'audio/mpeg', bytes: 7, data: inBase64('one two') } },
    });
  });

  test('has the sound of events', async () => {
    const vendor = speaks();
    vendor.send(delta('one ') + delta('two') + done);
    vendor.end();
    await (await say({ stream_format: 'sse', response_format: 'wav' })).text();
    await ended();
    expect(stored().answer).toMatchObject({ audio: { type: 'audio/wav', bytes: 7, data: inBase64('one two') } });
  });

  test('has the size alone of long sound', async () => {
    const vendor = speaks();
    vendor.send(delta('x'.repeat(200_000)) + done);
    vendor.end();
    await (await say()).text();
    await ended();
    expect(stored().answer).toEqual({ audio: { type: 'audio/mpeg', bytes: 200_000 } });
  });

  test('has a short file as its bytes, and of a long one the size', () => {
    const file = (bytes: number) => ({ name: 'a.wav', type: 'audio/wav', pieces: [Buffer.alloc(bytes, 'x')] });
    const request = { ...{ model: 'm', stream: false, extra: {} }, file: file(3), pictures: [file(200_000)] };
    expect(loggedRequest(request)).toMatchObject({
      file: { name: 'a.wav', type: 'audio/wav', bytes: 3, data: inBase64('xxx') },
      pictures: [{ name: 'a.wav', type: 'audio/wav', bytes: 200_000 }],
    });
  });

  test('has a short image of an answer, and the size of a long one', () => {
    const answer = { data: [{ b64_json: 'A'.repeat(4000) }, { b64_json: 'A'.repeat(400_000) }] };
    const logged = JSON.parse(loggedAnswer(answer));
    expect(logged.data).toEqual([answer.data[0], { b64_json: { bytes: 300_000 } }]);
  });

  test('has the last image of a stream', () => {
    const stream = new LoggedStream('text/event-stream; charset=utf-8', 'audio/mpeg');
    const events = [
      event({ type: 'image_generation.partial_image', b64_json: 'AAAA' }),
      event({ type: 'image_generation.completed', b64_json: 'BBBB', output_format: 'webp' }),
    ];
    for (const byte of Buffer.from(events.join(''))) stream.push(Uint8Array.of(byte));
    expect(JSON.parse(stream.answer())).toMatchObject({ data: [{ b64_json: 'BBBB' }], output_format: 'webp' });
  });
});
