import { expect, test } from 'bun:test';
import { type JsonObject, type JsonValue, parseJson } from '@llm0/core/chat/json';
import { ResponseSocket, type Turn } from './response-socket';
import type { Wire } from './socket-peer';

const create = (fields: JsonObject = {}) => JSON.stringify({ type: 'response.create', model: 'm', ...fields });

/** A connection whose client reads at once, unless told otherwise, and whose answers the test gives. */
function open(options: { maxWaiting?: number; lifetimeMs?: number } = {}) {
  const frames: JsonObject[] = [];
  const events: string[] = [];
  const failures: unknown[] = [];
  const asked: { turn: Turn; signal: AbortSignal; answer: (response: Response) => void }[] = [];
  const client = { isReading: true, buffered: 0 };
  const changed = new Set<() => void>();
  const change = () => {
    for (const check of changed) check();
  };
  const wire: Wire = {
    send: (frame) => {
      frames.push(parseJson(String(frame)) as JsonObject);
      change();
      if (client.isReading) return String(frame).length;
      client.buffered += 1;
      return -1;
    },
    close: (code, reason) => void events.push(`close ${code} ${reason}`),
    terminate: () => void events.push('terminate'),
    pause: () => void events.push('pause'),
    resume: () => void events.push('resume'),
    getBufferedAmount: () => client.buffered,
  };
  const socket = new ResponseSocket({
    answer: (turn, signal) => {
      const { promise, resolve } = Promise.withResolvers<Response>();
      asked.push({ turn, signal, answer: resolve });
      change();
      return promise;
    },
    maxWaiting: options.maxWaiting ?? 10_000,
    lifetimeMs: options.lifetimeMs ?? 60_000,
    onClose: () => {
      events.push('closed');
      change();
    },
    onFailure: (error) => failures.push(error),
  });
  socket.open(wire);
  /** Waits for an event, never for time. */
  const until = (condition: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!condition()) return;
        changed.delete(check);
        resolve();
      };
      changed.add(check);
      check();
    });
  const bodies = () => asked.map(({ turn }) => JSON.parse(turn.body).input as JsonValue);
  return { socket, wire, frames, events, failures, asked, client, until, bodies };
}

/** A stream of events that end one by one. */
function streamed(...events: JsonObject[]): Response {
  const text = events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

const DONE = { type: 'response.completed' };

test('each event of an answer is a frame; the requests of a stream wait for each other', async () => {
  const { socket, frames, asked, until, bodies } = open();
  socket.receive(create({ input: 1 }));
  socket.receive(create({ input: 2 }));
  await until(() => asked.length === 1);
  asked[0]?.answer(streamed({ type: 'response.created' }, DONE));
  await until(() => asked.length === 2);
  expect(frames).toEqual([{ type: 'response.created' }, DONE]);
  expect(bodies()).toEqual([1, 2]);
});

test('different streams run at once, sixteen at most, and their frames name them', async () => {
  const { socket, frames, asked, until } = open();
  for (let i = 0; i < 20; i++) socket.receive(create({ stream_id: `s${i}` }));
  await until(() => asked.length === 16);
  asked[3]?.answer(streamed(DONE));
  await until(() => asked.length === 17);
  expect(frames).toEqual([{ stream_id: 's3', ...DONE }]);
  expect(asked[16]?.turn.streamId).toBe('s16');
});

test('at most 32 streams have a name', async () => {
  const { socket, frames, until } = open();
  for (let i = 0; i < 33; i++) socket.receive(create({ stream_id: `s${i}` }));
  await until(() => frames.length === 1);
  expect(frames[0]).toMatchObject({ status: 400, stream_id: 's32', error: { code: 'websocket_stream_limit_reached' } });
});

test('an error answer is one frame with status and headers', async () => {
  const { socket, frames, asked, until, events } = open();
  const refuse = async (status: number, error: JsonObject) => {
    socket.receive(create({ stream_id: 'a.b-c_1' }));
    const count = frames.length;
    await until(() => asked.length > count);
    asked.at(-1)?.answer(Response.json({ error }, { status, headers: { 'retry-after': '3' } }));
    await until(() => frames.length > count);
    return frames.at(-1);
  };
  const limited = { code: 'rate_limit_exceeded', param: 'key' };
  expect(await refuse(429, limited)).toEqual({
    ...{ stream_id: 'a.b-c_1', type: 'error', status: 429, error: limited, headers: { 'retry-after': '3' } },
  });
  expect(await refuse(400, { code: 'not_found', param: 'previous_response_id' })).toMatchObject({
    error: { code: 'previous_response_not_found', param: 'previous_response_id' },
  });
  expect(events).toEqual([]);
  expect(await refuse(401, { code: 'invalid_api_key' })).toMatchObject({ status: 401 });
  await until(() => events.length > 0);
  expect(events).toEqual(['close 1008 API key refused', 'closed']);
});

test('messages that begin no answer get an error, and the connection goes on', async () => {
  const { socket, frames, asked, until } = open();
  for (const message of [
    '{"type":"session.update"}',
    create({ stream_id: '' }),
    create({ stream_id: 'a b' }),
    create({ stream_id: 7 }),
    create({ stream_id: 'x'.repeat(257) }),
  ]) {
    socket.receive(message);
  }
  socket.receive('{"type":"response.processed","response_id":"resp_1"}');
  socket.receive(create());
  await until(() => asked.length === 1);
  expect(frames.map(({ error }) => (error as JsonObject).code)).toEqual([
    'invalid_request',
    ...Array.from({ length: 4 }, () => 'invalid_stream_id'),
  ]);
});

test('a binary message ends the connection', async () => {
  const { socket, frames, events } = open();
  socket.receive(Buffer.from(create()));
  socket.receive(create());
  expect(frames).toMatchObject([{ type: 'error', error: { code: 'invalid_request' } }]);
  expect(events).toEqual(['close 1003 binary message', 'closed']);
});

test('a slow client is waited for: nothing more is read of the answer meanwhile', async () => {
  const { socket, frames, asked, client, until } = open();
  let pulls = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        pulls += 1;
        controller.enqueue(Buffer.from(`data: {"n":${pulls}}\n\n`));
        if (pulls === 3) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  client.isReading = false;
  socket.receive(create());
  await until(() => asked.length === 1);
  asked[0]?.answer(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
  await until(() => frames.length === 1);
  expect(pulls).toBe(1);
  client.buffered = 5;
  socket.drain();
  expect(pulls).toBe(1);
  Object.assign(client, { buffered: 0, isReading: true });
  socket.drain();
  await until(() => frames.length === 3);
  expect(frames).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
});

test('beyond the room for waiting requests, the client is read no more until one begins', async () => {
  const { socket, asked, events, until } = open({ maxWaiting: 350 });
  for (let i = 0; i < 3; i++) socket.receive(create({ input: 'x'.repeat(100) }));
  expect(events).toEqual(['pause']);
  await until(() => asked.length === 1);
  expect(events).toEqual(['pause', 'resume']);
});

test('a client that leaves aborts its answers, and waiting requests never begin', async () => {
  const { socket, asked, events, until } = open();
  socket.receive(create());
  socket.receive(create());
  await until(() => asked.length === 1);
  const left = Promise.withResolvers<void>();
  asked[0]?.signal.addEventListener('abort', () => left.resolve());
  socket.closed();
  await left.promise;
  asked[0]?.answer(streamed(DONE));
  socket.closed();
  expect(events).toEqual(['closed']);
  expect(asked).toHaveLength(1);
});

test('a shutdown ends an idle connection at once, another one after its answer', async () => {
  const idle = open();
  idle.socket.goAway();
  expect(idle.events).toEqual(['close 1001 the gateway is shutting down', 'closed']);
  const busy = open();
  busy.socket.receive(create({ input: 1 }));
  busy.socket.receive(create({ input: 2 }));
  await busy.until(() => busy.asked.length === 1);
  busy.socket.goAway();
  expect(busy.events).toEqual([]);
  busy.asked[0]?.answer(streamed(DONE));
  await busy.until(() => busy.events.length > 0);
  expect(busy.frames).toEqual([DONE]);
  expect(busy.bodies()).toEqual([1]);
});

test('an old connection ends with the error that clients know', async () => {
  const { frames, events, until } = open({ lifetimeMs: 1 });
  await until(() => events.includes('closed'));
  expect(frames).toMatchObject([{ type: 'error', status: 400, error: { code: 'websocket_connection_limit_reached' } }]);
  expect(events).toEqual(['close 1000 connection limit reached', 'closed']);
});

test('a failure that no answer tells is logged, and ends the connection', async () => {
  const { socket, asked, events, failures, until } = open();
  socket.receive(create());
  await until(() => asked.length === 1);
  const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('broken')) });
  asked[0]?.answer(new Response(broken));
  await until(() => events.includes('closed'));
  expect(events[0]).toBe('close 1011 internal error');
  expect(failures).toEqual([new Error('broken')]);
});

test('a caller that is cut has its connection torn down', async () => {
  const { socket, asked, events, until } = open();
  socket.receive(create());
  await until(() => asked.length === 1);
  socket.cut();
  expect(events).toEqual(['terminate', 'closed']);
  expect(asked[0]?.signal.aborted).toBe(true);
});
