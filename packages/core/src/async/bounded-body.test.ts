import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../errors/gateway-error';
import { BodyDeadlines, boundedBody, declaredLength, tooSlow } from './bounded-body';
import { Held, Room } from './room';

/** Chunks of `bytes`, `gapMs` apart; for ever where no `count` is given. */
function dripping(bytes: number, gapMs: number, count = Number.POSITIVE_INFINITY) {
  const state = { cancelled: false, sent: 0 };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (state.sent === count) return controller.close();
      await Bun.sleep(gapMs);
      state.sent += 1;
      controller.enqueue(new Uint8Array(bytes));
    },
    cancel() {
      state.cancelled = true;
    },
  });
  return { state, body };
}

const read = (body: ReadableStream<Uint8Array>) => new Response(body).bytes();
const failure = (body: ReadableStream<Uint8Array>) =>
  read(body).then(
    () => undefined,
    (error: unknown) => error as GatewayError,
  );

describe('a bounded body', () => {
  test('comes as it is', async () => {
    const bytes = await read(boundedBody(dripping(10, 0, 5).body, { maxBytes: 50 }));
    expect(bytes.byteLength).toBe(50);
  });

  test('a too large body is refused, and its sender stopped', async () => {
    const { body, state } = dripping(10, 0);
    expect(await failure(boundedBody(body, { maxBytes: 25 }))).toMatchObject({ kind: 'request_too_large' });
    expect(state).toEqual({ cancelled: true, sent: 3 });
  });

  test('a trickling body gets 408; a body at a fair pace does not', async () => {
    const { body, state } = dripping(1, 10);
    const error = await failure(boundedBody(body, { maxBytes: 1000, graceMs: 100 }));
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ kind: 'invalid_request', status: 408 });
    expect(state.cancelled).toBe(true);
    // 32 bytes a millisecond are enough: twenty chunks take twice the grace.
    const fair = await read(boundedBody(dripping(10_000, 10, 20).body, { maxBytes: 1_000_000, graceMs: 100 }));
    expect(fair.byteLength).toBe(200_000);
  });

  test('that breaks off is of a caller who left', async () => {
    const broken = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.error(new DOMException('The connection was closed.', 'AbortError')),
      });
    expect(await failure(boundedBody(broken(), { maxBytes: 1000 }))).toMatchObject({ kind: 'client_closed' });
    const text = new BodyDeadlines().read(new Response(broken()).text(), 10, tooSlow);
    expect(await text.catch((error: unknown) => error)).toMatchObject({ kind: 'client_closed' });
  });

  test('that is silent is 408', async () => {
    const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
    expect(await failure(boundedBody(silent, { maxBytes: 1000, graceMs: 30 }))).toMatchObject({ status: 408 });
  });

  test('takes room while its request lives: what finds none for long is 503 with the time to wait', async () => {
    const room = new Room({ maxBytes: 100, maxWaitMs: 20 });
    const taking = (held: Held) => ({ maxBytes: 200, take: (bytes: number) => held.take(bytes) });
    const first = new Held(room);
    await read(boundedBody(dripping(10, 0, 10).body, taking(first)));
    const second = new Held(room);
    const error = await failure(boundedBody(dripping(10, 0, 8).body, taking(second)));
    expect(error).toMatchObject({ kind: 'overloaded', param: 'body', retryAfterMs: 1000 });
    second.end();
    const third = new Held(room);
    const waiting = read(boundedBody(dripping(10, 0, 10).body, taking(third)));
    first.end();
    first.end();
    expect((await waiting).byteLength).toBe(100);
    third.end();
  });
});

describe('a declared length', () => {
  const declared = (length?: string) =>
    declaredLength(new Headers(length === undefined ? {} : { 'content-length': length }), 20);

  test.each([
    [undefined, undefined],
    ['0', 0],
    ['20', 20],
    ['1e1', undefined],
    ['-1', undefined],
    ['NaN', undefined],
  ])('of %p is read as %p', (length, read) => {
    expect(declared(length)).toBe(read);
  });

  test('beyond the limit gets 413', () => {
    expect(() => declared('21')).toThrow(expect.objectContaining({ kind: 'request_too_large' }));
  });
});
