import { SseDecoder } from '@llm0/core/sse/decode-sse';
import { errorFrame, refusalFrame, withStream } from './encode-frames';
import { type ClientEvent, CREATE, readEvent } from './read-event';
import type { SocketPeer, Wire } from './socket-peer';

/** A request of a client. */
export interface Turn extends Pick<ClientEvent, 'generates' | 'stores' | 'body'> {
  /** undefined: the stream without a name. */
  readonly streamId: string | undefined;
  /** Length of the message. */
  readonly length: number;
}

export interface SocketOptions {
  /** Answers like the `POST` that means the same. */
  readonly answer: (turn: Turn, signal: AbortSignal) => Promise<Response> | Response;
  /** Characters that may wait for their turn. */
  readonly maxWaiting: number;
  readonly lifetimeMs: number;
  readonly onClose: () => void;
  /** A failure that no answer tells. */
  readonly onFailure: (error: unknown) => void;
}

/** Limits of the vendor's protocol. */
const MAX_RUNNING = 16;
const MAX_STREAMS = 32;
const STREAM_ID = /^[\w.-]{1,256}$/;
/** Messages that may wait; the client's next ones stay in the network. */
const MAX_WAITING_TURNS = 64;

/** What Codex tells about answers that it has read; needs no answer. */
const PROCESSED = 'response.processed';

const INVALID_STREAM = refusalFrame(
  'invalid_stream_id',
  '"stream_id" must have 1 to 256 letters, digits, underscores, hyphens and periods.',
  'stream_id',
);
const TOO_MANY_STREAMS = refusalFrame(
  'websocket_stream_limit_reached',
  `A connection has at most ${MAX_STREAMS} different "stream_id". Use one again, or connect again.`,
  'stream_id',
);

/** Reason to end a connection, once its running answers are complete. */
interface Ending {
  readonly code: number;
  readonly reason: string;
  /** Last frame. */
  readonly frame?: string;
}

const TOO_OLD: Ending = {
  ...{ code: 1000, reason: 'connection limit reached' },
  frame: refusalFrame(
    'websocket_connection_limit_reached',
    'Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.',
  ),
};
const GOING_AWAY: Ending = { code: 1001, reason: 'the gateway is shutting down' };
const BINARY: Ending = {
  ...{ code: 1003, reason: 'binary message' },
  frame: refusalFrame('invalid_request', 'Binary messages are not supported. Send JSON as text messages.'),
};
const KEY_REFUSED: Ending = { code: 1008, reason: 'API key refused' };
const FAILED: Ending = { code: 1011, reason: 'internal error' };

/** One connection. Requests of a stream wait for each other; those of different streams run at once. */
export class ResponseSocket implements SocketPeer {
  private wire: Wire | undefined;
  private readonly waiting: Turn[] = [];
  /** By stream. */
  private readonly running = new Map<string | undefined, AbortController>();
  private readonly streams = new Set<string>();
  /** Messages that were received and have not begun. */
  private pending = { turns: 0, length: 0 };
  /** Reads messages in their order. */
  private reading = Promise.resolve();
  /** Resolves when all sent bytes have left. */
  private drained: PromiseWithResolvers<void> | undefined;
  private ending: Ending | undefined;
  private lifetime: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: SocketOptions) {}

  open(wire: Wire): void {
    this.wire = wire;
    this.lifetime = setTimeout(() => this.end(TOO_OLD), this.options.lifetimeMs);
    this.lifetime.unref();
    if (this.ending !== undefined) this.settle();
  }

  receive(message: string | Buffer): void {
    if (this.ending !== undefined) return;
    if (typeof message !== 'string') {
      this.end(BINARY);
      return;
    }
    this.count(1, message.length);
    this.reading = this.reading.then(() => this.read(message)).catch((error: unknown) => this.fail(error));
  }

  drain(): void {
    if (this.wire?.getBufferedAmount() !== 0) return;
    this.drained?.resolve();
    this.drained = undefined;
  }

  /** The connection is closed, by whomever. */
  closed(): void {
    if (this.wire === undefined) return;
    this.wire = undefined;
    this.ending ??= GOING_AWAY;
    clearTimeout(this.lifetime);
    this.waiting.length = 0;
    for (const abort of this.running.values()) abort.abort();
    this.drained?.resolve();
    this.options.onClose();
  }

  /** Ends it for a shutdown. */
  goAway(): void {
    this.end(GOING_AWAY);
  }

  /** Cuts a caller that takes nothing. */
  cut(): void {
    this.wire?.terminate();
    this.closed();
  }

  private async read(message: string): Promise<void> {
    const { length } = message;
    const { type, streamId: given, ...event } = await readEvent(message);
    if (this.ending !== undefined) return;
    const isValid = given === undefined || (typeof given === 'string' && STREAM_ID.test(given));
    const streamId = isValid ? given : undefined;
    const refusal = isValid ? this.refusalOf(type, streamId) : INVALID_STREAM;
    if (refusal === undefined && type === CREATE) {
      if (streamId !== undefined) this.streams.add(streamId);
      this.waiting.push({ ...event, streamId, length });
      return this.start();
    }
    if (refusal !== undefined) await this.send(withStream(refusal, streamId));
    this.count(-1, -length);
  }

  /** Frame that refuses a message; undefined where it begins an answer, or needs none. */
  private refusalOf(type: unknown, streamId: string | undefined): string | undefined {
    if (type === PROCESSED) return undefined;
    if (type !== CREATE) return refusalFrame('invalid_request', `"type" must be "${CREATE}".`, 'type');
    const isNew = streamId !== undefined && !this.streams.has(streamId);
    return isNew && this.streams.size >= MAX_STREAMS ? TOO_MANY_STREAMS : undefined;
  }

  /** Starts the waiting turns whose stream is free. */
  private start(): void {
    for (let at = 0; at < this.waiting.length && this.running.size < MAX_RUNNING; ) {
      const turn = this.waiting[at];
      if (turn === undefined || this.running.has(turn.streamId)) at += 1;
      else {
        this.waiting.splice(at, 1);
        void this.run(turn);
      }
    }
  }

  private async run(turn: Turn): Promise<void> {
    const { streamId, length } = turn;
    const abort = new AbortController();
    this.running.set(streamId, abort);
    this.count(-1, -length);
    try {
      const response = await this.options.answer(turn, abort.signal);
      if (response.status === 200) await this.forward(response, streamId);
      else if (this.wire !== undefined) await this.send(withStream(await errorFrame(response), streamId));
      if (response.status === 401) this.end(KEY_REFUSED);
    } catch (error) {
      this.fail(error);
    } finally {
      this.running.delete(streamId);
      this.settle();
    }
  }

  /** Sends each event as a frame, as fast as the client takes them. */
  private async forward({ body }: Response, streamId: string | undefined): Promise<void> {
    if (body === null) return;
    const decoder = new SseDecoder(Number.MAX_SAFE_INTEGER);
    const reader = body.getReader();
    try {
      while (this.wire !== undefined) {
        const { done, value } = await reader.read();
        if (done) return;
        for (const { data } of decoder.push(value)) {
          const sent = this.send(withStream(data, streamId));
          if (sent !== undefined) await sent;
        }
      }
    } finally {
      void reader.cancel().catch(() => {});
    }
  }

  /** A promise means that the client takes its time. After the end, frames are dropped. */
  private send(frame: string): Promise<void> | undefined {
    const sent = this.wire?.send(frame);
    if (sent !== -1) return undefined;
    this.drained ??= Promise.withResolvers();
    return this.drained.promise;
  }

  /** Counts messages that wait, and stops reading at the limit. */
  private count(turns: number, length: number): void {
    const wasFull = this.isFull;
    this.pending = { turns: this.pending.turns + turns, length: this.pending.length + length };
    if (wasFull === this.isFull) return;
    if (wasFull) this.wire?.resume();
    else this.wire?.pause();
  }

  private get isFull(): boolean {
    const { turns, length } = this.pending;
    return turns > MAX_WAITING_TURNS || length > this.options.maxWaiting;
  }

  private fail(error: unknown): void {
    if (this.wire === undefined) return;
    this.options.onFailure(error);
    this.end(FAILED);
  }

  private end(ending: Ending): void {
    this.ending ??= ending;
    this.waiting.length = 0;
    // Reads on, for the client's part of the closing.
    this.count(-this.pending.turns, -this.pending.length);
    this.settle();
  }

  /** Goes on, or closes once the last answer is complete. */
  private settle(): void {
    const { wire, ending, running } = this;
    if (ending === undefined) this.start();
    if (ending === undefined || wire === undefined || running.size > 0) return;
    if (ending.frame !== undefined) wire.send(ending.frame);
    wire.close(ending.code, ending.reason);
    this.closed();
  }
}
