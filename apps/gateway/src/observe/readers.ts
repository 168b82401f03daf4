// Disconnects callers that read nothing: their data would stay in memory indefinitely.
import { readUnsent, type UnsentBytes } from './unsent-bytes';

/** Read-ahead limits for callers that stopped reading: per key, and in total. */
const BOUNDS = { ofKey: 30_000_000, ofAll: 120_000_000 };
/** Bytes that the runtime reads ahead of an unread answer. */
const MAX_BYTES_OF_ANSWER = 3_000_000;
/** After this time, a vendor may have sent more than its pace suggests. */
const LONG_STALL_MS = 5000;
const LONG_STALL_BYTES = 500_000;
const TICK_MS = 100;
/** Share of the pace that remains after each tick. */
const PACE_KEPT = 0.9;
/** Younger stalls end by themselves, mostly: the system isn't asked about them. */
const LOOK_AFTER_MS = 1000;

export interface ReadersOptions {
  /** SLOW_READER_TIMEOUT */
  readonly timeoutMs: number;
  readonly bounds?: Partial<typeof BOUNDS>;
  readonly tickMs?: number;
  readonly monotonicMs?: () => number;
  /** Reads the kernel's unsent bytes. */
  readonly readUnsent?: () => Promise<UnsentBytes>;
}

type Address = Pick<NonNullable<ReturnType<Bun.Server<undefined>['requestIP']>>, 'address' | 'port'>;

/** Operations on connections. */
export interface Connections {
  addressOf(request: Request): Address | null;
  /** Ends it soon, even with unsent bytes. */
  end(request: Request): void;
}

/** The reader, and its key's share. */
export interface Caller {
  readonly request: Request;
  /** Scope of a shared bound. */
  readonly key: string | undefined;
  /** Memory of an answer that streams from elsewhere; a complete one is accounted for there. */
  readonly ahead?: { readonly isFlooded: boolean } | undefined;
}

/** One caller that is being answered. */
export class Reader {
  private isWaiting = false;
  private pulls = 0;
  private seenPulls = -1;
  /** Given since it was looked at last. */
  private bytes = 0;
  /** Recent bytes per millisecond while the caller was reading. */
  private pace = 0;
  private lookedMs: number;
  stalledSinceMs: number | undefined;
  /** Unsent bytes in the kernel at the last look. */
  unsent: number | undefined;

  constructor(
    private readonly readers: Readers,
    readonly caller: Caller,
    readonly onCut: () => void,
    nowMs: number,
  ) {
    this.lookedMs = nowMs;
  }

  /** The consumer asks for more. */
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

  /** True if it has read nothing since the last look. */
  look(nowMs: number): boolean {
    const isStalled = this.isWaiting && this.pulls === this.seenPulls;
    if (isStalled) this.stalledSinceMs ??= this.lookedMs;
    else {
      this.pace = Math.max(this.bytes / Math.max(1, nowMs - this.lookedMs), PACE_KEPT * this.pace);
      this.seenPulls = this.pulls;
      this.stalledSinceMs = undefined;
      this.unsent = undefined;
    }
    this.bytes = 0;
    this.lookedMs = nowMs;
    return isStalled;
  }

  /** About as much as was read ahead for it while it took nothing. */
  aheadBytes(nowMs: number): number {
    const { ahead } = this.caller;
    if (ahead === undefined) return 0;
    if (ahead.isFlooded) return MAX_BYTES_OF_ANSWER;
    const stalledMs = nowMs - (this.stalledSinceMs ?? nowMs);
    const atLeast = stalledMs > LONG_STALL_MS ? LONG_STALL_BYTES : 0;
    return Math.min(MAX_BYTES_OF_ANSWER, Math.max(2 * this.pace * stalledMs, atLeast));
  }
}

const NO_CONNECTIONS: Connections = { addressOf: () => null, end: () => {} };

/** All callers that are being answered piece by piece. */
export class Readers {
  /** Set by the listener. */
  connections = NO_CONNECTIONS;
  private readonly open = new Set<Reader>();
  private timer: ReturnType<typeof setInterval> | undefined;
  private readonly monotonicMs: () => number;

  constructor(private readonly options: ReadersOptions) {
    this.monotonicMs = options.monotonicMs ?? (() => performance.now());
  }

  /** `onCut`: the connection was cut and counts as closed. */
  begin(caller: Caller, onCut: () => void): Reader {
    const reader = new Reader(this, caller, onCut, this.monotonicMs());
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
    const left = this.bound(stalled, nowMs);
    const { timeoutMs } = this.options;
    const hasStalledFor = (leastMs: number) => (reader: Reader) => nowMs - (reader.stalledSinceMs ?? nowMs) >= leastMs;
    const isDue = hasStalledFor(timeoutMs);
    const isOld = hasStalledFor(Math.min(LOOK_AFTER_MS, timeoutMs / 4));
    const due = left.filter(isDue);
    const looked = left.filter((reader) => (reader.unsent === undefined && isOld(reader)) || isDue(reader));
    if (looked.length === 0) return;
    const unsent = await (this.options.readUnsent ?? readUnsent)();
    for (const reader of looked) {
      const before = reader.unsent;
      const address = this.connections.addressOf(reader.caller.request);
      reader.unsent = address === null ? undefined : unsent(address);
      if (!due.includes(reader) || !this.open.has(reader)) continue;
      // The kernel accepts more only after sending a good part of its buffer.
      const isTaking = before !== undefined && reader.unsent !== undefined && before !== reader.unsent;
      if (isTaking) reader.stalledSinceMs = nowMs;
      else this.cut(reader);
    }
  }

  /** Cuts the longest stalls if too much was read ahead in total or for one key. Returns the others. */
  private bound(stalled: readonly Reader[], nowMs: number): Reader[] {
    const { ofKey, ofAll } = { ...BOUNDS, ...this.options.bounds };
    const bytesByKey = new Map<string | undefined, number>();
    let all = 0;
    const latestFirst = stalled.toSorted((a, b) => (b.stalledSinceMs ?? 0) - (a.stalledSinceMs ?? 0));
    return latestFirst.filter((reader) => {
      const ahead = reader.aheadBytes(nowMs);
      const bytes = (bytesByKey.get(reader.caller.key) ?? 0) + ahead;
      if (ahead === 0 || (bytes <= ofKey && all + ahead <= ofAll)) {
        bytesByKey.set(reader.caller.key, bytes);
        all += ahead;
        return true;
      }
      this.cut(reader);
      return false;
    });
  }

  private cut(reader: Reader): void {
    this.close(reader);
    reader.onCut();
    this.connections.end(reader.caller.request);
  }

  private start(): ReturnType<typeof setInterval> {
    const { timeoutMs, tickMs = Math.min(TICK_MS, timeoutMs / 4) } = this.options;
    const timer = setInterval(() => void this.tick(), tickMs);
    timer.unref();
    return timer;
  }
}
