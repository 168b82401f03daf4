import { LRUCache } from 'lru-cache';

/** Doubled each time that a limit refuses all. */
const FIRST_MS = 1000;
const LONGEST_MS = 15_000;
const MOST_PAUSED = 1000;

/** Batches that wait for a limit, in this process: their parts go back to the queue meanwhile, which serves the others. */
export class BatchPauses {
  private readonly paused = new LRUCache<string, { readonly untilMs: number; readonly times: number }>({
    max: MOST_PAUSED,
  });

  constructor(private readonly nowMs: () => number) {}

  /** Milliseconds until its next try; 0 without a pause. */
  leftMs(batchId: string): number {
    return Math.max(0, (this.paused.get(batchId)?.untilMs ?? 0) - this.nowMs());
  }

  /** `waitMs`: the refusal's own time; `wentOn`: lines ended since the last pause. Returns milliseconds. */
  begin(batchId: string, { waitMs, wentOn }: { readonly waitMs: number; readonly wentOn: boolean }): number {
    const times = wentOn ? 0 : (this.paused.get(batchId)?.times ?? 0);
    const ms = Math.min(LONGEST_MS, Math.max(waitMs, FIRST_MS * 2 ** Math.min(times, 10)));
    this.paused.set(batchId, { untilMs: this.nowMs() + ms, times: times + 1 });
    return ms;
  }

  end(batchId: string): void {
    this.paused.delete(batchId);
  }
}
