// Cancels a body that starts too late, stalls, trickles for ever, exceeds its limit or loses its reader.

import { freeBytes, letGo, nextTurn } from '@llm0/core/async/time-slices';
import { GatewayError, givenUp } from '@llm0/core/errors/gateway-error';
import type { AnswerRoom } from '../provider-call';
import { tooLargeAnswer } from './bounded-fetch';
import { connectionError } from './fetch-upstream';
import { upstreamFailure } from './upstream-failure';

export interface BodyOptions {
  readonly provider: string;
  /** Longest silence while a reader waits, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Time-out of the first chunk in milliseconds; by default the idle time-out. */
  readonly firstTimeoutMs?: number | undefined;
  /** Limit for the whole body in milliseconds; by default sixty idle time-outs. */
  readonly maxMs?: number | undefined;
  /** More bytes fail the answer; unbounded where they are only passed on, as fast as they are taken. */
  readonly maxBytes?: number;
  readonly room?: AnswerRoom | undefined;
  readonly signal: AbortSignal;
}

/** Total limit in idle time-outs by default: an hour, even for a trickle. */
const MAX_IDLE_TIMEOUTS = 60;

/** A larger chunk was read ahead while nobody could process it. */
const FLOOD_CHUNK_BYTES = 100 * 1024;
/** After a chunk so small, nothing was left to be read. */
const CALM_CHUNK_BYTES = 16 * 1024;
/** Larger chunks are split, with pauses for others. */
const PIECE_BYTES = 16 * 1024;
/** After this many bytes, or this long, a fast stream yields. */
const TURN_BYTES = 256 * 1024;
const TURN_MS = 5;
/** Decoding garbage is collected after this much data of all long answers. */
const COLLECT_BYTES = 4 * 1024 * 1024;
/** Shorter answers leave no more garbage than other requests: a full collection for some hundred of them is too dear. */
const SHORT_ANSWER_BYTES = 64 * 1024;
let bytesDecoded = 0;

/** Reads one upstream body by chunk. Call `close` at the end; it cancels the rest. */
export class UpstreamBody {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private waitingSinceMs: number | undefined;
  /** Time-out of the next chunk. */
  private limitMs: number;
  private stopped: GatewayError | undefined;
  private closed = false;
  private bytes = 0;
  private readonly maxBytes: number;
  private bytesInTurn = 0;
  private turnMs = performance.now();
  /** Rest of a large chunk. */
  private rest: Uint8Array | undefined;
  private isFlooded = false;
  private readonly startedMs = performance.now();
  private readonly onAbort = () => this.stop(givenUp(this.options.signal));

  constructor(
    body: ReadableStream<Uint8Array> | null,
    private readonly options: BodyOptions,
  ) {
    this.reader = body?.getReader();
    this.maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
    this.limitMs = options.firstTimeoutMs ?? options.idleTimeoutMs;
    options.signal.addEventListener('abort', this.onAbort, { once: true });
    if (options.signal.aborted) this.onAbort();
  }

  /** The next piece of at most 16 KiB, for a decoder; else like `readChunk`. */
  read(): Promise<Uint8Array | undefined> {
    const goesOn = this.rest === undefined && (this.bytesInTurn <= PIECE_BYTES || !this.isLongTurn());
    return goesOn ? this.receive(true) : this.readInNextTurn();
  }

  /** The next chunk; undefined at the end. Throws failure `timeout` or `connection`, or `client_closed`. */
  readChunk(): Promise<Uint8Array | undefined> {
    return this.receive(false);
  }

  /** True after many small chunks, which may hold a thousand events. */
  private isLongTurn(): boolean {
    return this.bytesInTurn > TURN_BYTES || performance.now() - this.turnMs > TURN_MS;
  }

  private async readInNextTurn(): Promise<Uint8Array | undefined> {
    await nextTurn();
    this.bytesInTurn = 0;
    this.turnMs = performance.now();
    if (this.stopped !== undefined) throw this.stopped;
    return this.rest === undefined ? this.receive(true) : this.pieceOf(this.rest);
  }

  private async receive(isCut: boolean): Promise<Uint8Array | undefined> {
    if (this.stopped !== undefined) throw this.stopped;
    if (this.closed || this.reader === undefined) return undefined;
    this.waitingSinceMs = performance.now();
    this.timer ??= setTimeout(this.checkIdle, Math.max(1, Math.min(this.limitMs, this.leftInAllMs())));
    try {
      const { done, value } = await this.reader.read();
      if (this.stopped !== undefined) throw this.stopped;
      if (this.limitMs !== this.options.idleTimeoutMs) this.noteFirstChunk();
      if (done) return undefined;
      const { byteLength } = value;
      this.bytes += byteLength;
      this.bytesInTurn += byteLength;
      if (this.bytes > this.maxBytes) throw this.refuseLength();
      if (byteLength > FLOOD_CHUNK_BYTES || this.isFlooded) this.noteFlood(byteLength);
      return isCut ? this.pieceOf(value) : value;
    } catch (error) {
      throw this.stopped ?? (error instanceof GatewayError ? error : connectionError(this.options.provider, error));
    } finally {
      this.waitingSinceMs = undefined;
    }
  }

  private pieceOf(chunk: Uint8Array): Uint8Array | Promise<Uint8Array> {
    this.rest = chunk.byteLength > PIECE_BYTES ? chunk.subarray(PIECE_BYTES) : undefined;
    const piece = this.rest === undefined ? chunk : chunk.subarray(0, PIECE_BYTES);
    if (this.bytes <= SHORT_ANSWER_BYTES) return piece;
    bytesDecoded += piece.byteLength;
    return bytesDecoded > COLLECT_BYTES ? this.collect(piece) : piece;
  }

  private async collect(piece: Uint8Array): Promise<Uint8Array> {
    bytesDecoded = 0;
    await letGo();
    if (this.stopped !== undefined) throw this.stopped;
    return piece;
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.timer);
    this.options.signal.removeEventListener('abort', this.onAbort);
    void this.reader?.cancel().catch(() => {});
  }

  private stop(error: GatewayError): void {
    this.stopped ??= error;
    void this.reader?.cancel().catch(() => {});
  }

  private refuseLength(): GatewayError {
    const error = connectionError(this.options.provider, tooLargeAnswer(this.maxBytes));
    this.stop(error);
    return error;
  }

  private noteFlood(chunkBytes: number): void {
    const { room } = this.options;
    if (chunkBytes > FLOOD_CHUNK_BYTES) {
      room?.takeFlood();
      this.isFlooded = true;
    } else if (this.isFlooded && chunkBytes < CALM_CHUNK_BYTES) {
      room?.endFlood();
      this.isFlooded = false;
    }
  }

  private get mostMs(): number {
    const { idleTimeoutMs, maxMs = MAX_IDLE_TIMEOUTS * idleTimeoutMs } = this.options;
    return maxMs;
  }

  private leftInAllMs(): number {
    return this.startedMs + this.mostMs - performance.now();
  }

  /** From the first chunk on, the idle time-out applies. */
  private noteFirstChunk(): void {
    this.limitMs = this.options.idleTimeoutMs;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** One timer for the whole body, set again only when it fires: chunks cost no timer each. */
  private readonly checkIdle = (): void => {
    const nowMs = performance.now();
    const leftMs = this.limitMs - (this.waitingSinceMs === undefined ? 0 : nowMs - this.waitingSinceMs);
    const leftInAllMs = this.leftInAllMs();
    if (leftMs > 0 && leftInAllMs > 0) {
      this.timer = setTimeout(this.checkIdle, Math.max(1, Math.min(leftMs, leftInAllMs)));
      return;
    }
    const silent = `sent nothing for ${Math.round(this.limitMs)} ms.`;
    const message = leftMs > 0 ? `did not end its answer within ${Math.round(this.mostMs)} ms.` : silent;
    this.stop(upstreamFailure('timeout', this.options.provider, message));
  };
}

/** The whole body, which must have a limit. */
export async function readWhole(body: UpstreamBody, room?: Pick<AnswerRoom, 'takeAnswer'>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  try {
    for (let chunk = await body.readChunk(); chunk !== undefined; chunk = await body.readChunk()) {
      chunks.push(chunk);
      const waiting = room?.takeAnswer(chunk.byteLength);
      if (waiting !== undefined) await waiting;
    }
    return chunks;
  } catch (error) {
    for (const chunk of chunks) freeBytes(chunk);
    throw error;
  }
}

/** The beginning of a body as text, enough of an error page to identify it. Never throws for a broken body. */
export async function readStart(body: UpstreamBody, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (let chunk = await body.read(); chunk !== undefined && size < maxBytes; chunk = await body.read()) {
      chunks.push(chunk);
      size += chunk.byteLength;
    }
  } catch {
    // The received part is all the error can show.
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBytes));
}
