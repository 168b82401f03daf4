import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import type { JsonObject } from '@llm0/core/chat/json';
import { requestIdOf } from '@llm0/core/conversations/own-ids';
import { SseDecoder } from '@llm0/core/sse/decode-sse';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { logRow, ON_ONE_KIND, settledLedger, shareEnvironment, type TestEnvironment, waitUntil } from './environment';

const SETUP_MS = 60_000;
const GPT = 'gpt-4o-mini';
const CLAUDE = 'claude-haiku-4-5';
const MIB = 1024 ** 2;
const SLOW: JsonObject = { x_fake: { chunks: 500, gapMs: 20 } };

/** A client of the socket, with all that it was sent. */
class Client {
  readonly frames: JsonObject[] = [];
  readonly closed = Promise.withResolvers<{ code: number; reason: string }>();
  isClosed = false;

  private constructor(private readonly socket: Bun.WebSocket) {
    socket.addEventListener('message', ({ data }) => this.frames.push(JSON.parse(String(data)) as JsonObject));
    socket.addEventListener('close', ({ code, reason }) => {
      this.isClosed = true;
      this.closed.resolve({ code, reason });
    });
  }

  static async open(world: TestEnvironment, apiKey: string, headers: Record<string, string> = {}): Promise<Client> {
    const url = `${world.gateway.url.replace('http', 'ws')}/v1/responses`;
    const beta = { 'OpenAI-Beta': 'responses_websockets=2026-02-06', 'X-Customer-ID': 'c1' };
    const options: Bun.WebSocketOptions = { headers: { authorization: `Bearer ${apiKey}`, ...beta, ...headers } };
    // Browsers' types, which know no headers, hide the runtime's.
    const socket = new WebSocket(url, options as unknown as string[]) as unknown as Bun.WebSocket;
    const client = new Client(socket);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error('no connection')));
    });
    return client;
  }

  send(message: string | Uint8Array<ArrayBuffer>): void {
    this.socket.send(message);
  }

  create(body: JsonObject): void {
    this.send(JSON.stringify({ type: 'response.create', model: GPT, ...body }));
  }

  /** The next frame that ends a request: an error, or the last event of an answer. */
  async ended(after = this.frames.length): Promise<JsonObject> {
    const found = () => this.frames.slice(after).find(({ type }) => ENDS.has(type));
    await waitUntil(() => found() !== undefined || this.isClosed);
    const frame = found();
    if (frame === undefined) throw new Error('the connection ended without an answer');
    return frame;
  }

  /** One whole turn; gives its last frame. */
  async take(body: JsonObject): Promise<JsonObject> {
    const after = this.frames.length;
    this.create(body);
    return this.ended(after);
  }

  leave(): void {
    this.socket.terminate();
  }
}

const ENDS: ReadonlySet<unknown> = new Set(['response.completed', 'response.failed', 'response.incomplete', 'error']);
const answerOf = (frame: JsonObject) => frame.response as JsonObject & { id: string; output: JsonObject[] };
const codeOf = ({ status, error }: JsonObject) => [status, (error as JsonObject | undefined)?.code];

describe.each(ON_ONE_KIND)('the Responses API over WebSocket on %s stores', (kind) => {
  let world: TestEnvironment;
  let apiKey: string;
  beforeAll(async () => {
    world = await shareEnvironment({ kind, env: { SLOW_READER_TIMEOUT: '1s' } });
    apiKey = (await createTestKey(world.gateway)).apiKey;
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${world.gateway.url}/v1/responses${path}`, {
      ...init,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'X-Customer-ID': 'c1' },
    });
  const rowOf = (id: unknown) => logRow(world.gateway, requestIdOf(String(id)) ?? '');
  const lastSent = () => JSON.stringify(world.upstream.requests.at(-1)?.body);

  test('the frames are the events of the same POST, and so is the row', async () => {
    world.upstream.control.setDefault({ text: 'one two', chunks: 2 });
    const client = await Client.open(world, apiKey, { 'X-LLM0-Team': 'blue' });
    const last = await client.take({ input: 'same', store: true });
    const posted = await call('', {
      method: 'POST',
      body: JSON.stringify({ model: GPT, input: 'other', stream: true }),
    });
    const events = new SseDecoder().push(await posted.bytes()).map(({ data }) => JSON.parse(data) as JsonObject);
    const shapeOf = (frames: readonly JsonObject[]) =>
      frames.map(({ type, sequence_number: n, delta }) => [type, n, delta]);
    expect(shapeOf(client.frames)).toEqual(shapeOf(events));
    const { id, cost_usd: cost } = answerOf(last);
    expect(await rowOf(id)).toMatchObject({
      ...{ dialect: 'openai-responses', status: 'success', stream: true, cost_usd: cost },
      ...{ labels: { team: 'blue' }, customer_id: 'c1' },
    });
    expect(world.upstream.requests[0]?.body).toEqual({ model: GPT, input: 'same', store: true, stream: true });
    expect((await call(`/${id}`)).status).toBe(200);
    client.leave();
  });

  test.each([GPT, CLAUDE])('turns of %s continue in the connection, without any storage', async (model) => {
    world.upstream.control.enqueue({ text: 'first answer' }, { text: 'second answer' }, { text: 'third' });
    const client = await Client.open(world, apiKey);
    const first = answerOf(await client.take({ model, input: 'question one', store: false }));
    const second = { input: 'question two', previous_response_id: first.id, store: false, model };
    const { id, previous_response_id: previous } = answerOf(await client.take(second));
    expect(previous).toBe(first.id);
    for (const part of ['question one', 'first answer', 'question two']) expect(lastSent()).toContain(part);
    await client.take({ input: 'question three', previous_response_id: id, store: false, model });
    for (const part of ['question one', 'second answer', 'question three']) expect(lastSent()).toContain(part);
    expect((await call(`/${id}`)).status).toBe(404);
    const other = await Client.open(world, apiKey);
    expect(codeOf(await other.take({ ...second, previous_response_id: id }))).toEqual([
      400,
      'previous_response_not_found',
    ]);
    client.leave();
    other.leave();
  });

  test('a warm-up asks nobody, and the next turn continues it', async () => {
    const client = await Client.open(world, apiKey);
    const prepared = { role: 'developer', content: 'You are brief.' };
    const empty = answerOf(await client.take({ input: [], generate: false, store: false }));
    const warm = await client.take({
      ...{ input: [prepared], generate: false, store: false, previous_response_id: empty.id },
    });
    expect(client.frames.slice(-3).map(({ type }) => type)).toEqual([
      ...['response.created', 'response.in_progress', 'response.completed'],
    ]);
    expect(answerOf(warm)).toMatchObject({ output: [], usage: { total_tokens: 0 }, cost_usd: 0 });
    expect(world.upstream.requests).toEqual([]);
    await client.take({ input: 'Hi', previous_response_id: answerOf(warm).id, store: false });
    for (const part of ['You are brief.', 'Hi']) expect(lastSent()).toContain(part);
    expect(lastSent()).not.toContain('generate');
    client.leave();
  });

  test('errors are frames with the status of the POST, and the connection goes on', async () => {
    const key = await createTestKey(world.gateway, { key: { rate_limit_per_minute: 2, allowed_models: [GPT] } });
    const client = await Client.open(world, key.apiKey);
    expect(codeOf(await client.take({ model: 'no-such-model', input: 'x' }))).toEqual([404, 'model_not_found']);
    expect(codeOf(await client.take({ model: 'gpt-4o', input: 'x' }))).toEqual([403, 'model_not_allowed']);
    expect(codeOf(await client.take({ background: true, input: 'x' }))).toEqual([400, 'unsupported_parameter']);
    for (const input of ['one', 'two'])
      expect(await client.take({ input })).toMatchObject({ type: 'response.completed' });
    const limited = await client.take({ input: 'three' });
    expect(codeOf(limited)).toEqual([429, 'rate_limit_exceeded']);
    const { 'retry-after': seconds, 'x-request-id': requestId = '' } = limited.headers as Record<string, string>;
    expect(Number(seconds)).toBeGreaterThan(0);
    expect(await logRow(world.gateway, requestId)).toMatchObject({ status: 'rate_limited', http_status: 429 });
    client.leave();
  });

  test('requests of one stream wait for each other; those of different streams run at once', async () => {
    const client = await Client.open(world, apiKey);
    world.upstream.control.hold();
    client.create({ input: 'first' });
    client.create({ input: 'second' });
    for (const stream of ['a', 'b']) client.create({ input: stream, stream_id: stream });
    await waitUntil(() => world.upstream.control.counters.waiting === 3);
    world.upstream.control.release();
    await waitUntil(() => client.frames.filter(({ type }) => type === 'response.completed').length === 4);
    const ids = (name: string) =>
      client.frames.filter(({ stream_id: id, type }) => id === name && ENDS.has(type)).length;
    expect([ids('a'), ids('b')]).toEqual([1, 1]);
    const unnamed = client.frames.filter(({ stream_id: id }) => id === undefined).map(({ type }) => type);
    expect(unnamed.indexOf('response.completed')).toBeLessThan(unnamed.lastIndexOf('response.created'));
    client.leave();
  });

  test('a caller that vanishes: the upstream is cancelled within a second, the row is aborted', async () => {
    const client = await Client.open(world, apiKey);
    client.create({ input: 'long', ...SLOW });
    await waitUntil(() => client.frames.some(({ type }) => type === 'response.output_text.delta'));
    const { id } = answerOf(client.frames[0] as JsonObject);
    client.leave();
    const leftMs = performance.now();
    await waitUntil(() => world.upstream.control.counters.cancelled === 1);
    expect(performance.now() - leftMs).toBeLessThan(1000);
    expect(await rowOf(id)).toMatchObject({ status: 'aborted', http_status: 499 });
  });

  test('one that vanishes before the first event too', async () => {
    const client = await Client.open(world, apiKey);
    client.create({ input: 'silence', x_fake: { hang: true } });
    await waitUntil(() => world.upstream.control.counters.received === 1);
    client.leave();
    const leftMs = performance.now();
    await waitUntil(() => world.upstream.control.counters.cancelled === 1);
    expect(performance.now() - leftMs).toBeLessThan(1000);
  });

  test('one that reads nothing is cut', async () => {
    const { port, hostname } = new URL(world.gateway.url);
    const body = { type: 'response.create', model: GPT, input: 'flood', stream_id: 'x'.repeat(200) };
    const socket = connect(Number(port), hostname, () => {
      const offer = ['GET /v1/responses HTTP/1.1', `Host: ${hostname}`, 'Connection: Upgrade', 'Upgrade: websocket'];
      const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
      socket.write(`${[...offer, ...key, `Authorization: Bearer ${apiKey}`].join('\r\n')}\r\n\r\n`);
    });
    world.upstream.control.setDefault({ text: 'x'.repeat(16 * MIB), chunks: 1600 });
    const opened = Promise.withResolvers<void>();
    socket.once('data', () => opened.resolve());
    await opened.promise;
    socket.pause();
    socket.write(textFrame(JSON.stringify(body)));
    await waitUntil(() => world.upstream.control.counters.cancelled === 1);
    socket.destroy();
  });

  test('a revoked key is refused with the next request, and the connection ends', async () => {
    const { apiKey: key, projectId, keyId } = await createTestKey(world.gateway);
    const client = await Client.open(world, key);
    expect(await client.take({ input: 'still valid' })).toMatchObject({ type: 'response.completed' });
    await callAdmin(world.gateway, `/projects/${projectId}/keys/${keyId}`, { method: 'DELETE' });
    expect(codeOf(await client.take({ input: 'not any more' }))).toEqual([401, 'invalid_api_key']);
    expect((await client.closed.promise).code).toBe(1008);
    await expect(Client.open(world, key)).rejects.toThrow('no connection');
  });

  test('a handshake without a key, an incomplete one, and none', async () => {
    const offer = (headers: Record<string, string>) =>
      statusOf(world.gateway.url, { Connection: 'Upgrade', Upgrade: 'websocket', ...headers });
    expect(await offer({})).toBe(401);
    expect(await offer({ Authorization: 'Bearer llm0_live_wrong' })).toBe(401);
    expect(await offer({ Authorization: `Bearer ${apiKey}` })).toBe(400);
    expect((await call('')).status).toBe(405);
  });

  test('hostile messages are refused, or end their own connection', async () => {
    const client = await Client.open(world, apiKey);
    const refused = async (message: string) => {
      const after = client.frames.length;
      client.send(message);
      return codeOf(await client.ended(after));
    };
    expect(await refused('')).toEqual([400, 'invalid_json']);
    expect(await refused('hello')).toEqual([400, 'invalid_json']);
    expect(await refused('[]')).toEqual([400, 'invalid_request']);
    expect(await refused('{"type":"response.create"')).toEqual([400, 'invalid_json']);
    expect(await refused('{"type":"response.cancel"}')).toEqual([400, 'invalid_request']);
    expect(await refused('{"type":"response.create","stream_id":"a b"}')).toEqual([400, 'invalid_stream_id']);
    expect(await refused(`{"type":"response.create","input":${'['.repeat(50_000)}`)).toEqual([400, 'invalid_request']);
    expect(await client.take({ input: 'still here' })).toMatchObject({ type: 'response.completed' });
    client.send(new Uint8Array([1, 2, 3]));
    expect((await client.closed.promise).code).toBe(1003);
    const huge = await Client.open(world, apiKey);
    huge.send('x'.repeat(100 * MIB));
    expect([1006, 1009]).toContain((await huge.closed.promise).code);
    const after = await Client.open(world, apiKey);
    expect(await after.take({ input: 'after all' })).toMatchObject({ type: 'response.completed' });
    after.leave();
  });

  test('the books are even', async () => {
    expect((await settledLedger(world.gateway)).ok).toBe(true);
  });

  test(
    'a shutdown lets an answer end, and says why the connection does',
    async () => {
      const [idle, busy] = [await Client.open(world, apiKey), await Client.open(world, apiKey)];
      busy.create({ input: 'last words', x_fake: { chunks: 20, gapMs: 50 } });
      await waitUntil(() => busy.frames.length > 0);
      const restarted = world.restart('stop');
      expect((await idle.closed.promise).code).toBe(1001);
      expect((await busy.closed.promise).code).toBe(1001);
      expect(busy.frames.at(-1)).toMatchObject({ type: 'response.completed' });
      await restarted;
    },
    SETUP_MS,
  );
});

/** One masked text frame of up to 64 kB, as clients send it. Source: https://www.rfc-editor.org/rfc/rfc6455#section-5.2 */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(8);
  head.writeUInt16BE(0x81fe, 0);
  head.writeUInt16BE(payload.length, 2);
  // A mask of zeros leaves the payload as it is.
  return Buffer.concat([head, payload]);
}

/** Status of a raw `GET`, which no client library would send. */
async function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  const { port, hostname } = new URL(url);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const told = Promise.withResolvers<string>();
  const socket = connect(Number(port), hostname, () =>
    socket.write(['GET /v1/responses HTTP/1.1', `Host: ${hostname}`, ...lines, '', ''].join('\r\n')),
  );
  socket.once('data', (chunk) => told.resolve(chunk.toString('latin1')));
  const head = await told.promise;
  socket.destroy();
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
}
