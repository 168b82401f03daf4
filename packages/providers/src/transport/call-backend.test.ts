import { describe, expect, test } from 'bun:test';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { type BackendCall, callBackend } from './call-backend';

const chunks = (count: number, onPull: () => void = () => {}) => {
  let left = count;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        onPull();
        if (left-- > 0) controller.enqueue(new Uint8Array(1000));
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
};
type Answering = (init: RequestInit & { body?: ReadableStream<Uint8Array> }) => Promise<Response>;
const call = (answer: Answering, more: Partial<BackendCall> = {}) =>
  callBackend({
    ...{ backend: 'py', method: 'POST', url: 'http://backend.test/x', headers: {}, timeoutMs: 50 },
    signal: new AbortController().signal,
    fetch: ((_url: string, init: RequestInit) => answer(init as never)) as unknown as typeof globalThis.fetch,
    ...more,
  });
const failureOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return error instanceof GatewayError ? [error.kind, error.failure, error.message] : error;
};
/** Ends with the signal, as the runtime's fetch does. */
const never = ({ signal }: RequestInit) =>
  new Promise<Response>((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));

describe('a request to a backend', () => {
  test('is given up where nothing of its body is taken any more, and the connection with it', async () => {
    let isAborted = false;
    const stalls: Answering = async (init) => {
      init.signal?.addEventListener('abort', () => {
        isAborted = true;
      });
      await init.body?.getReader().read();
      return never(init);
    };
    const failure = await failureOf(call(stalls, { stream: chunks(10) }));
    expect(failure).toEqual(['upstream_timeout', 'timeout', 'py read nothing of the body for 50 ms.']);
    expect(isAborted).toBe(true);
  });

  test('may take its time as long as the body goes on, and is timed once all of it was sent', async () => {
    const slowly: Answering = async (init) => {
      for await (const _chunk of init.body ?? []) await Bun.sleep(20);
      return new Response('ok');
    };
    const { response } = await call(slowly, { stream: chunks(8) });
    expect(response.status).toBe(200);
    const silent: Answering = async (init) => {
      for await (const _chunk of init.body ?? []);
      return never(init);
    };
    expect(await failureOf(call(silent, { stream: chunks(3) }))).toEqual([
      ...['upstream_timeout', 'timeout', 'py did not answer within 50 ms.'],
    ]);
  });

  test('reads no more of its body than is taken', async () => {
    let pulled = 0;
    const taking: Answering = async (init) => {
      await init.body?.getReader().read();
      return new Response('enough');
    };
    await call(taking, { stream: chunks(1000, () => pulled++) });
    expect(pulled).toBeLessThan(5);
  });

  test('ends with its caller', async () => {
    const stop = new AbortController();
    const work = call(never, { signal: stop.signal, timeoutMs: 5000, stream: chunks(1) });
    setTimeout(() => stop.abort(), 10);
    expect(await failureOf(work)).toEqual(['client_closed', undefined, 'The caller closed the connection.']);
  });

  test('gives small bodies of known length at once, others as they come', async () => {
    const sized = (length: number) => async () =>
      new Response(new Uint8Array(length), { headers: { 'content-length': String(length) } });
    expect((await call(sized(1000))).bytes?.byteLength).toBe(1000);
    expect((await call(sized(200_000))).bytes).toBeUndefined();
    expect((await call(async () => new Response(chunks(1)))).bytes).toBeUndefined();
  });

  test('takes redirects as answers, and what is no status for none', async () => {
    const { response } = await call(async () => new Response(null, { status: 302, headers: { location: '/x' } }));
    expect(response.status).toBe(302);
    for (const status of [999, 600, 199, 102, 101, 99, 0]) {
      const odd = { status, headers: new Headers(), body: null } as unknown as Response;
      expect(await failureOf(call(async () => odd))).toEqual([
        ...['upstream_error', 'malformed', `py answered with the invalid status ${status}.`],
      ]);
    }
  });
});
