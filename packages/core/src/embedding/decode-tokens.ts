import { Worker } from 'node:worker_threads';
import { GatewayError, invalidRequest } from '../errors/gateway-error';
import type { DecodeJob, DecodeReply } from './decode-worker';
import type { EmbeddingInput } from './embedding-request';

/** The vocabulary takes some 40 MB, so it is freed when unused. */
const IDLE_MS = 300_000;

type Texts = DecodeReply['texts'];

/**
 * Decodes tokens by the vocabulary of OpenAI's embedding models, which clients use for any model. Loads it on first
 * use. Throws `invalid_request` for unknown tokens.
 */
export async function decodeTokenInputs(inputs: readonly EmbeddingInput[]): Promise<readonly string[]> {
  const tokens = inputs.filter((input) => typeof input !== 'string');
  const texts = (await decodeInThread(tokens)).values();
  return inputs.map((input, index) => {
    if (typeof input === 'string') return input;
    const text = texts.next().value;
    if (text !== undefined) return text;
    const message = `"input[${index}]" holds a number that is no token of cl100k_base. Send the text itself.`;
    throw invalidRequest(`input.${index}`, message);
  });
}

let thread: DecodeThread | undefined;

function decodeInThread(inputs: DecodeJob['inputs']): Promise<Texts> {
  thread ??= new DecodeThread(() => {
    thread = undefined;
  });
  return thread.decode(inputs);
}

/** If the thread fails, waiting calls are `overloaded` and the next request starts another. */
class DecodeThread {
  private readonly worker = new Worker(new URL('./decode-worker.ts', import.meta.url), { env: {} });
  private readonly waiting = new Map<number, PromiseWithResolvers<Texts>>();
  private nextId = 0;
  private hasEnded = false;
  private idle: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly onEnd: () => void) {
    this.worker.on('message', ({ id, texts }: DecodeReply) => {
      this.waiting.get(id)?.resolve(texts);
      this.waiting.delete(id);
      if (this.waiting.size === 0) this.idle = setTimeout(() => this.end(), IDLE_MS).unref();
    });
    this.worker.on('error', () => this.end());
    this.worker.on('exit', () => this.end());
    this.worker.unref();
  }

  decode(inputs: DecodeJob['inputs']): Promise<Texts> {
    clearTimeout(this.idle);
    const id = this.nextId++;
    const answer = Promise.withResolvers<Texts>();
    this.waiting.set(id, answer);
    const job: DecodeJob = { id, inputs };
    this.worker.postMessage(job);
    return answer.promise;
  }

  private end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.onEnd();
    void this.worker.terminate();
    const cause = new GatewayError('overloaded', "Tokens can't be decoded right now. Retry shortly, or send text.");
    for (const { reject } of this.waiting.values()) reject(cause);
    this.waiting.clear();
  }
}
