// Hot store unreachable: renewals are tried again on the next tick; the 60 s lease outlives two missed ones.
import type { HotStore } from '@llm0/core/admission/hot-store';
import type { Logger } from 'pino';

const RENEW_EVERY_MS = 20_000;
const BATCH = 500;

/** Keeps the holds of this process's live requests from being reaped. */
export class LeaseKeeper {
  private readonly holds = new Map<string, { projectId: string; requestId: string; sinceMs: number }>();
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly options: { hotStore: Pick<HotStore, 'renew'>; log: Logger; nowMs: () => number }) {}

  start(): void {
    this.timer = setInterval(() => void this.renewAll(), RENEW_EVERY_MS);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  add(projectId: string, requestId: string): void {
    this.holds.set(requestId, { projectId, requestId, sinceMs: this.options.nowMs() });
  }

  remove(requestId: string): void {
    this.holds.delete(requestId);
  }

  get size(): number {
    return this.holds.size;
  }

  /** Renews every hold that is old enough to need it; short requests never cost a renewal. */
  async renewAll(): Promise<void> {
    const olderThanMs = this.options.nowMs() - RENEW_EVERY_MS / 2;
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
