// A caller that takes nothing is cut: what waits for it would stay in memory as long as it likes.
import { readUnsent, type UnsentBytes } from './unsent-bytes';

/** What may wait for the callers of one key that have stopped to take anything. */
const MAX_BYTES_OF_KEY = 48_000_000;
/** What an answer takes at most while it is not taken: a vendor is heard no faster than its caller reads. */
const MAX_BYTES_OF_ANSWER = 3_000_000;
/** After so long a vendor may have sent more than was given on. */
const LONG_STALL_MS = 5000;
const LONG_STALL_BYTES = 1_000_000;
const TICK_MS = 500;

export interface ReadersOptions {
  /** SLOW_READER_TIMEOUT */
  readonly timeoutMs: number;
  readonly maxBytesOfKey?: number;
  readonly tickMs?: number;
  readonly monotonicMs?: () => number;
  /** Looks up what the system still has to send. */
  readonly readUnsent?: () => Promise<UnsentBytes>;
}

type Address = Pick<NonNullable<ReturnType<Bun.Server<undefined>['requestIP']>>, 'address' | 'port'>;

/** What is done with connections by whoever serves them. */
export interface Connections {
  addressOf(request: Request): Address | null;
  /** Ends it soon, whatever is still to be sent. */
  end(request: Request): void;
}

/** One caller that is being answered. */
export class Reader {
  private isWaiting = false;
  private pulls = 0;
  private seenPulls = -1;
  /** Bytes given so far. */
  bytes = 0;
  stalledSinceMs: number | undefined;
  /** Of the system, when it was looked at last. */
  unsent: number | undefined;

  constructor(
    private readonly readers: Readers,
    readonly request: Request,
    /** Whose callers are bounded together. */
    readonly key: string | undefined,
    readonly onCut: () => void,
  ) {}

  /** It wants more. */
  asked(): void {
    this.isWaiting = false;
    this.pulls += 1;
  }

  /** Bytes wait until it takes them. */
  gave(bytes: number): void {
    this.isWaiting = true;
    this.bytes += bytes;
  }

  end(): void {
    this.readers.close(this);
  }

  /** True where it has taken nothing since it was looked at last. */
  look(nowMs: number): boolean {
    if (this.isWaiting && this.pulls === this.seenPulls) {
      this.stalledSinceMs ??= nowMs;
      return true;
    }
    this.seenPulls = this.pulls;
    this.stalledSinceMs = undefined;
    this.unsent = undefined;
    return false;
  }

  /** About as much as waits for it. */
  heldBytes(nowMs: number): number {
    const isLong = nowMs - (this.stalledSinceMs ?? nowMs) > LONG_STALL_MS;
    return Math.min(MAX_BYTES_OF_ANSWER, Math.max(this.bytes, isLong ? LONG_STALL_BYTES : 0));
  }
}

const NO_CONNECTIONS: Connections = { addressOf: () => null, end: () => {} };

/** All callers that are being answered piece by piece. */
export class Readers {
  /** Set by whoever listens. */
  connections = NO_CONNECTIONS;
  private readonly open = new Set<Reader>();
  private timer: ReturnType<typeof setInterval> | undefined;
  private readonly monotonicMs: () => number;

  constructor(private readonly options: ReadersOptions) {
    this.monotonicMs = options.monotonicMs ?? (() => performance.now());
  }

  /** `onCut`: it is cut, and counts as gone. */
  begin(request: Request, key: string | undefined, onCut: () => void): Reader {
    const reader = new Reader(this, request, key, onCut);
    this.open.add(reader);
    this.timer ??= this.start();
    return reader;
  }

  close(reader: Reader): void {
    this.open.delete(reader);
    if (this.open.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  get count(): number {
    return this.open.size;
  }

  /** Looks at all of them. */
  async tick(): Promise<void> {
    const nowMs = this.monotonicMs();
    const stalled = [...this.open].filter((reader) => reader.look(nowMs));
    const left = this.boundKeys(stalled, nowMs);
    const isDue = ({ stalledSinceMs = nowMs }: Reader) => nowMs - stalledSinceMs >= this.options.timeoutMs;
    const due = left.filter(isDue);
    const looked = left.filter((reader) => reader.unsent === undefined || isDue(reader));
    if (looked.length === 0) return;
    const unsent = await (this.options.readUnsent ?? readUnsent)();
    for (const reader of looked) {
      const before = reader.unsent;
      const address = this.connections.addressOf(reader.request);
      reader.unsent = address === null ? undefined : unsent(address);
      if (!due.includes(reader) || !this.open.has(reader)) continue;
      // The system takes more only once a good part of what it holds has left.
      const isTaking = before !== undefined && reader.unsent !== undefined && before !== reader.unsent;
      if (isTaking) reader.stalledSinceMs = nowMs;
      else this.cut(reader);
    }
  }

  /** Cuts those who have waited longest, where those of one key keep too much. Gives the others. */
  private boundKeys(stalled: readonly Reader[], nowMs: number): Reader[] {
    const { maxBytesOfKey = MAX_BYTES_OF_KEY } = this.options;
    const bytesByKey = new Map<string | undefined, number>();
    const latestFirst = stalled.toSorted((a, b) => (b.stalledSinceMs ?? 0) - (a.stalledSinceMs ?? 0));
    return latestFirst.filter((reader) => {
      const bytes = (bytesByKey.get(reader.key) ?? 0) + reader.heldBytes(nowMs);
      bytesByKey.set(reader.key, bytes);
      if (bytes <= maxBytesOfKey) return true;
      this.cut(reader);
      return false;
    });
  }

  private cut(reader: Reader): void {
    this.close(reader);
    reader.onCut();
    this.connections.end(reader.request);
  }

  private start(): ReturnType<typeof setInterval> {
    const { timeoutMs, tickMs = Math.min(TICK_MS, timeoutMs / 4) } = this.options;
    const timer = setInterval(() => void this.tick(), tickMs);
    timer.unref();
    return timer;
  }
}
