// Hot store unreachable: renewals are tried again on the next tick; the 60 s lease outlives two missed ones.
import { LEASE_MS } from './hold';
import type { HotStore } from './hot-store';
import type { TurnQueue } from './turn-queue';

/** Gets a warning before each retry. */
interface Log {
  warn(details: object, message: string): void;
}

const BATCH = 500;

/** Renews the holds of this process's live requests. */
export class LeaseKeeper {
  private readonly holds = new Map<string, { projectId: string; requestId: string; sinceMs: number }>();
  private timer: ReturnType<typeof setInterval> | undefined;

  private readonly renewEveryMs: number;

  constructor(
    private readonly options: {
      hotStore: Pick<HotStore, 'renew'>;
      log: Log;
      nowMs: () => number;
      /** Lease in the hot store; other values than 60 s are for tests only. */
      leaseMs?: number;
      /** Requests that wait for their key's concurrency. */
      turns?: Pick<TurnQueue, 'size' | 'freed'>;
    },
  ) {
    this.renewEveryMs = (options.leaseMs ?? LEASE_MS) / 3;
  }

  start(): void {
    this.timer = setInterval(() => void this.renewAll(), this.renewEveryMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  add(projectId: string, requestId: string): void {
    this.holds.set(requestId, { projectId, requestId, sinceMs: this.options.nowMs() });
  }

  /** `keyId`: has one request less under way. */
  remove(requestId: string, keyId?: string): void {
    this.holds.delete(requestId);
    const { turns } = this.options;
    if (keyId !== undefined && turns !== undefined && turns.size > 0) turns.freed(keyId);
  }

  get size(): number {
    return this.holds.size;
  }

  /** Renews every hold that is old enough to need it; short requests never cost a renewal. */
  async renewAll(): Promise<void> {
    const olderThanMs = this.options.nowMs() - this.renewEveryMs / 2;
    const due = [...this.holds.values()].filter((hold) => hold.sinceMs <= olderThanMs);
    for (let i = 0; i < due.length; i += BATCH) {
      try {
        await this.options.hotStore.renew(due.slice(i, i + BATCH));
      } catch (error) {
        this.options.log.warn({ err: error, holds: due.length - i }, 'leases could not be renewed, trying again');
        return;
      }
    }
  }
}
