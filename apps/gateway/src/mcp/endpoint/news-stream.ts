import type { JsonObject } from '@llm0/core/chat/json';
import { encodeFrame, KEEP_ALIVE, KEEP_ALIVE_MS, STREAM_HEADERS } from '../wire/sse-frame';

export interface NewsStreamOptions {
  /** Counts the stream; returns the function that ends it. */
  readonly opened: () => () => void;
  readonly encode: (method: string, params: JsonObject) => JsonObject;
  /** End mark of a complete stream. */
  readonly last: JsonObject | undefined;
  /** The key changed or the process stops: the client starts again with its key. */
  readonly isStale: () => Promise<boolean>;
}

/** Buffered bytes that disconnect a client that reads nothing. */
const MAX_WAITING_BYTES = 256 * 1024;

/** A stream of news for one client, ended by it, by its key or by the gateway. */
export class NewsStream {
  private controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  private readonly early: Uint8Array[] = [];
  private readonly ends: (() => void)[] = [];
  private isOver = false;
  private isEnding = false;

  constructor(private readonly options: NewsStreamOptions) {
    this.ends.push(options.opened());
    const timer = setInterval(() => void this.tick(), KEEP_ALIVE_MS);
    this.ends.push(() => clearInterval(timer));
  }

  tell(method: string, params: JsonObject): void {
    this.write(encodeFrame(JSON.stringify(this.options.encode(method, params))));
  }

  /** Called once, when the stream is over. */
  onEnd(end: () => void): void {
    if (this.isOver) end();
    else this.ends.push(end);
  }

  /** Ends it in good order. */
  end(): void {
    const { last } = this.options;
    if (last !== undefined) this.write(encodeFrame(JSON.stringify(last)));
    this.isEnding = true;
    if (this.controller !== undefined) this.finish();
  }

  response(headers: Readonly<Record<string, string>>): Response {
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller;
          // Some clients wait for a first byte.
          controller.enqueue(KEEP_ALIVE);
          for (const frame of this.early.splice(0)) controller.enqueue(frame);
          if (this.isEnding) this.finish();
        },
        cancel: () => this.finish(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES }),
    );
    return new Response(body, { headers: { ...headers, ...STREAM_HEADERS } });
  }

  private write(frame: Uint8Array): void {
    if (this.isOver) return;
    if (this.controller === undefined) {
      this.early.push(frame);
      return;
    }
    if ((this.controller.desiredSize ?? 0) <= 0) this.finish();
    else this.controller.enqueue(frame);
  }

  private async tick(): Promise<void> {
    this.write(KEEP_ALIVE);
    if (await this.options.isStale()) this.end();
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const end of this.ends.splice(0)) end();
    try {
      this.controller?.close();
    } catch {
      // The client has closed it.
    }
  }
}

const MAX_OF_KEY = 64;

/** Streams that are open, by key. */
export class OpenStreams {
  private readonly counts = new Map<string, number>();

  mayOpen(keyId: string): boolean {
    return (this.counts.get(keyId) ?? 0) < MAX_OF_KEY;
  }

  open(keyId: string): () => void {
    this.counts.set(keyId, (this.counts.get(keyId) ?? 0) + 1);
    return () => {
      const left = (this.counts.get(keyId) ?? 1) - 1;
      if (left > 0) this.counts.set(keyId, left);
      else this.counts.delete(keyId);
    };
  }
}
