export const MODEL = 'gpt-one';

/** Script of one fake upstream call. */
export type Script = (signal: AbortSignal, model: string) => Promise<Response> | Response;

/** A whole plain answer: 10 tokens of input, 5 of output. */
export function says(text: string): Script {
  return () =>
    Response.json({
      ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: MODEL },
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    });
}

export function fails(status: number): Script {
  return () => Response.json({ error: { message: `no: ${status}` } }, { status });
}

export interface StreamControl {
  readonly script: Script;
  /** Sends a piece of text. */
  send(text: string): void;
  /** The usual end: finish, usage, `[DONE]`. */
  finish(): void;
  /** The connection breaks. */
  breakOff(): void;
  readonly cancelled: Promise<void>;
}

/** A streamed answer whose pieces the test sends one by one. */
export function streams(): StreamControl {
  const encoder = new TextEncoder();
  const cancelled = Promise.withResolvers<void>();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (one) => {
      controller = one;
    },
    cancel: () => cancelled.resolve(),
  });
  const write = (data: object | string) => {
    const text =
      typeof data === 'string'
        ? data
        : JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: MODEL, created: 1, ...data });
    controller?.enqueue(encoder.encode(`data: ${text}\n\n`));
  };
  return {
    script: (signal) => {
      signal.addEventListener('abort', () => cancelled.resolve());
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
    send: (text) => write({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }] }),
    finish: () => {
      write({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
      write({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
      write('[DONE]');
      controller?.close();
    },
    breakOff: () => controller?.error(new Error('reset')),
    cancelled: cancelled.promise,
  };
}
