import { afterAll, describe, expect, test } from 'bun:test';
import { longestStretch } from '../guardrails/longest-stretch.fixture';
import { LocalEmbedder } from './local-embedder';
import { RemoteEmbedder, type RemoteEmbedderOptions } from './remote-embedder';
import { SHIPPED_MODEL } from './shipped-model';

const LOADED_MS = 30_000;

describe('the shipped model', () => {
  const broken: string[] = [];
  const embedder = new LocalEmbedder({ ...SHIPPED_MODEL, onBroken: (message) => broken.push(message), maxQueued: 50 });
  afterAll(() => embedder.stop());
  const vectorOf = async (text: string) => {
    const outcome = await embedder.embed(text, LOADED_MS);
    if (outcome.type === 'none') throw new Error(outcome.reason);
    return outcome.vector;
  };
  const similarity = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);

  test('gives unit vectors, close for close questions', async () => {
    const [one, two, far] = await Promise.all(
      ['how do I reset my password?', 'I forgot my password, how can I reset it?', 'how tall is mount everest?'].map(
        vectorOf,
      ),
    );
    if (one === undefined || two === undefined || far === undefined) throw new Error('no vectors');
    expect(one).toHaveLength(384);
    expect(similarity(one, one)).toBeCloseTo(1, 4);
    expect(similarity(one, two)).toBeGreaterThan(0.9);
    expect(similarity(one, far)).toBeLessThan(0.3);
  });

  test("a text's vector does not depend on its neighbours in the queue", async () => {
    const alone = await vectorOf('what is the capital of france?');
    const [, together] = await Promise.all(
      ['a much longer text about nothing in particular, to be put beside it', 'what is the capital of france?'].map(
        vectorOf,
      ),
    );
    expect(similarity(alone, together ?? new Float32Array(384))).toBeCloseTo(1, 6);
  });

  test('refuses other languages and texts beyond 512 tokens', async () => {
    expect(await embedder.embed('Wie setze ich mein Passwort zurück?', LOADED_MS)).toMatchObject({
      reason: 'language',
    });
    expect(await embedder.embed('what is 1 2 3 4 5 6 7 8 9 '.repeat(60), LOADED_MS)).toMatchObject({
      reason: 'too_long',
    });
    expect(await embedder.embed('x'.repeat(5000), LOADED_MS)).toMatchObject({ reason: 'too_long' });
  });

  test('the queue is bounded, and late is late', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, i) => embedder.embed(`how many apples are in box number ${i}?`, LOADED_MS)),
    );
    expect(outcomes.some((outcome) => outcome.type === 'none' && outcome.reason === 'busy')).toBe(true);
    expect(outcomes.filter((outcome) => outcome.type === 'vector').length).toBeGreaterThanOrEqual(50);
    expect(await embedder.embed('what is late?', 0)).toEqual({ type: 'none', reason: 'late' });
    const before = Array.from({ length: 40 }, (_, i) => embedder.embed(`how many pears are in box ${i}?`, LOADED_MS));
    expect(await embedder.embed('what is late behind others?', 1)).toEqual({ type: 'none', reason: 'late' });
    await Promise.all(before);
    expect(broken).toEqual([]);
  });

  test('the event loop goes on meanwhile', async () => {
    const ask = (i: number) => embedder.embed(`what is the weather in city ${i}?`, LOADED_MS);
    // Inference of 40 texts on this thread would take longer.
    expect(await longestStretch(() => Promise.all(Array.from({ length: 40 }, (_, i) => ask(i))))).toBeLessThan(50);
  });

  test('ends while it is at work, and the process goes on', async () => {
    for (const waitMs of [0, 2, 5, 9, 15]) {
      const other = new LocalEmbedder({ ...SHIPPED_MODEL, onBroken: (message) => broken.push(message) });
      await other.embed('is the model loaded?', LOADED_MS);
      const asked = Array.from({ length: 8 }, (_, i) => other.embed(`${'why is it so? '.repeat(30)}${i}`, LOADED_MS));
      await Bun.sleep(waitMs);
      other.stop();
      expect((await Promise.all(asked)).at(-1)).toEqual({ type: 'none', reason: 'failed' });
    }
    // Still there after what the last one was at.
    await vectorOf('how tall is mount everest?');
    expect(broken).toEqual([]);
  });

  test('a model that is not there is said once, and tried again only after a pause', async () => {
    const said: string[] = [];
    const nowhere = new LocalEmbedder({
      ...{ modelPath: '/nonexistent/model', englishOnly: false, model: 'none' },
      onBroken: (message) => said.push(message),
    });
    expect(await nowhere.embed('one', LOADED_MS)).toEqual({ type: 'none', reason: 'failed' });
    expect(await nowhere.embed('two', LOADED_MS)).toEqual({ type: 'none', reason: 'failed' });
    expect(said).toHaveLength(1);
    nowhere.stop();
  });
});

describe('an embedding service', () => {
  const start = (answer: (body: Record<string, unknown>, request: Request) => Response | Promise<Response>) =>
    Bun.serve({
      port: 0,
      fetch: async (request) => answer((await request.json()) as Record<string, unknown>, request),
    });
  const embedderFor = (server: { port?: number }, more: Partial<RemoteEmbedderOptions> = {}) =>
    new RemoteEmbedder({ url: `http://127.0.0.1:${server.port}`, api: 'embed', fetch, ...more });

  test('is asked with POST /embed, many texts at once, and its vectors are normalized', async () => {
    const batches: number[] = [];
    const server = start(async (body, request) => {
      const texts = body.texts as string[];
      batches.push(texts.length);
      expect(new URL(request.url).pathname).toBe('/embed');
      await Bun.sleep(20);
      return Response.json({ embeddings: texts.map((text) => [text.length, 0, 0]), dimensions: 3 });
    });
    const embedder = embedderFor(server);
    const outcomes = await Promise.all(Array.from({ length: 30 }, (_, i) => embedder.embed(`text ${i}`, 5000)));
    expect(outcomes.every((outcome) => outcome.type === 'vector' && outcome.vector[0] === 1)).toBe(true);
    expect(Math.max(...batches)).toBeGreaterThan(10);
    await server.stop(true);
  });

  test('of the other kind needs a model and a key, and answers in any order', async () => {
    const server = start((body, request) => {
      expect(request.headers.get('authorization')).toBe('Bearer secret');
      expect(new URL(request.url).pathname).toBe('/v1/embeddings');
      expect(body.model).toBe('small');
      const data = (body.input as string[]).map((text, index) => ({ index, embedding: [Number(text), 1] }));
      return Response.json({ data: data.reverse() });
    });
    const url = `http://127.0.0.1:${server.port}/v1`;
    const embedder = embedderFor(server, { url, api: 'embeddings', model: 'small', apiKey: 'secret' });
    const outcomes = await Promise.all(['0', '1'].map((text) => embedder.embed(text, 5000)));
    expect(outcomes.map((outcome) => outcome.type === 'vector' && outcome.vector[0]?.toFixed(3))).toEqual([
      '0.000',
      '0.707',
    ]);
    expect(embedder.model).toContain('small');
    await server.stop(true);
  });

  test.each<[string, () => Response | Promise<Response>]>([
    ['an error', () => new Response('no', { status: 500 })],
    ['no JSON', () => new Response('<html>')],
    ['too few vectors', () => Response.json({ embeddings: [] })],
    ['words', () => Response.json({ embeddings: [['a']] })],
    ['a vector without direction', () => Response.json({ embeddings: [[0, 0]] })],
  ])('%s is no vector', async (_name, answer) => {
    const server = start(answer);
    expect(await embedderFor(server).embed('text', 5000)).toEqual({ type: 'none', reason: 'failed' });
    await server.stop(true);
  });

  test('with a too large answer gives no vectors and is cancelled', async () => {
    let sentMib = 0;
    let isLeft = false;
    const body = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          sentMib += 1;
          controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20));
        },
        cancel() {
          isLeft = true;
        },
      });
    const fetch = (async () => new Response(body())) as unknown as typeof globalThis.fetch;
    const embedder = new RemoteEmbedder({ url: 'http://service.test', api: 'embed', fetch });
    expect(await embedder.embed('a question', 5000)).toEqual({ type: 'none', reason: 'failed' });
    expect(isLeft).toBe(true);
    expect(sentMib).toBeGreaterThan(64);
    expect(sentMib).toBeLessThan(70);
  });

  test('a slow or missing service is late or failed, and the queue is bounded', async () => {
    const server = start(() => Bun.sleep(300).then(() => Response.json({ embeddings: [[1]] })));
    const embedder = embedderFor(server, { maxQueued: 5, maxBatch: 1 });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => embedder.embed('text', 30)));
    const reasons = outcomes.map((outcome) => (outcome.type === 'none' ? outcome.reason : 'vector'));
    expect(new Set(reasons)).toEqual(new Set(['late', 'busy'] as const));
    await server.stop(true);
    expect(await embedderFor({ port: 1 }).embed('text', 5000)).toEqual({ type: 'none', reason: 'failed' });
  });
});
