import type { UpstreamBody } from '@llm0/providers/transport/call-backend';

export interface ReadAheadOptions {
  /** Read ahead without a reader up to this size; beyond it, at the reader's pace. */
  readonly maxBytes: number;
  /** Takes memory for more bytes. */
  hasRoom(bytes: number): boolean;
  /** The whole body, if within the limit. */
  onWhole(bytes: Uint8Array): void;
  onTooLong(): void;
}

/** The pieces, and all of them as one. */
const KEPT_FACTOR = 2;

/** A storable body: waiting for the whole doesn't depend on the reader of its pieces. */
export class ReadAhead {
  private readonly chunks: Uint8Array[] = [];
  private taken = 0;
  private bytes = 0;
  private state: 'reading' | 'whole' | 'too_long' | 'failed' = 'reading';
  private failure: unknown;
  private wake: (() => void) | undefined;

  constructor(
    private readonly body: Pick<UpstreamBody, 'readChunk'>,
    private readonly options: ReadAheadOptions,
  ) {
    void this.pump();
  }

  /** The next piece; undefined at the end. Throws the body's failure after the earlier pieces. */
  async readChunk(): Promise<Uint8Array | undefined> {
    for (;;) {
      const chunk = this.chunks[this.taken];
      if (chunk !== undefined) {
        this.taken += 1;
        return chunk;
      }
      if (this.state === 'failed') throw this.failure;
      if (this.state === 'whole') return undefined;
      if (this.state === 'too_long') return this.body.readChunk();
      const { promise, resolve } = Promise.withResolvers<void>();
      this.wake = resolve;
      await promise;
    }
  }

  private async pump(): Promise<void> {
    try {
      while (this.state === 'reading') {
        const chunk = await this.body.readChunk();
        if (chunk === undefined) {
          this.state = 'whole';
          this.options.onWhole(Buffer.concat(this.chunks));
        } else {
          this.chunks.push(chunk);
          this.bytes += chunk.byteLength;
          if (this.bytes > this.options.maxBytes || !this.options.hasRoom(KEPT_FACTOR * chunk.byteLength)) {
            this.state = 'too_long';
            this.options.onTooLong();
          }
        }
        this.wake?.();
      }
    } catch (error) {
      this.failure = error;
      this.state = 'failed';
      this.wake?.();
    }
  }
}
