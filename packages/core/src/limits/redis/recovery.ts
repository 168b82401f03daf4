// Store or rows unreachable while recovering: decisions stay refused and it is tried again, faster than a second.

import type { RebuildSource } from '../hot-store';
import type { Outbox } from '../outbox/outbox';
import { type EpochContext, ensureEpochs, isCurrent, readEpoch } from './epoch';
import type { RedisLink } from './link';
import { readQueueState } from './log-queue';

const RETRY_MS = [20, 50, 100, 200, 400] as const;
const WATCH_MS = 1_000;

export interface RecoveryOptions {
  readonly link: RedisLink;
  readonly outbox: Outbox;
  readonly source: RebuildSource;
  /** State of this process for a rebuild. */
  readonly rebuild: Pick<EpochContext, 'newId' | 'openHolds' | 'leaseMs' | 'onLost'>;
  /** Decisions have just become possible again. */
  readonly onOpen: () => void;
  /** Every second, while open. */
  readonly onWatch: () => void;
}

/** Keeps the store's epoch current: checks it after every trouble and every second, and reopens the store. */
export class RedisRecovery {
  private running: Promise<void> | undefined;
  private lastEpochs = '';
  private watch: ReturnType<typeof setInterval> | undefined;
  private stopped = false;
  lastError: string | undefined;

  constructor(private readonly options: RecoveryOptions) {}

  /** The first opening; throws when it fails within `timeoutMs`. */
  async start(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (let attempt = 0; ; attempt++) {
      try {
        await this.recover();
        break;
      } catch (error) {
        if (performance.now() >= deadline) throw error;
        await this.pause(attempt);
      }
    }
    this.watch = setInterval(() => this.checkNow(), WATCH_MS);
  }

  /** Something is wrong with the connection or the epoch: no decision until it is checked. */
  close(): void {
    this.options.link.close();
    this.options.outbox.pause();
  }

  /** Checks and repairs in the background, until decisions are possible. */
  trigger(): void {
    if (this.running !== undefined || this.stopped) return;
    this.running = this.loop().finally(() => {
      this.running = undefined;
    });
  }

  /** Repairs known losses; resolves once decisions are possible again. */
  async reopen(): Promise<void> {
    this.close();
    await this.running;
    await this.recover();
  }

  /** Looks once at drained entries, if the store answers in time. */
  async lookOnce(timeoutMs: number): Promise<void> {
    if (this.options.link.isOpen) await Promise.race([this.checkNow(), Bun.sleep(timeoutMs)]);
  }

  stop(): void {
    this.stopped = true;
    clearInterval(this.watch);
  }

  private async loop(): Promise<void> {
    for (let attempt = 0; !this.stopped; attempt++) {
      try {
        return await this.recover();
      } catch (error) {
        this.lastError = error instanceof Error ? error.message : String(error);
        await this.pause(attempt);
      }
    }
  }

  private async recover(): Promise<void> {
    const { link, outbox, source, rebuild } = this.options;
    const current = await Promise.all(link.shards.map((keys) => readEpoch(link.client, keys)));
    if (!current.every(isCurrent)) this.close();
    const { client, shards, clock } = link;
    const isKnown = this.lastEpochs !== '';
    const epochs = await ensureEpochs({ client, shards, clock, isKnown, ...rebuild }, source);
    const isNew = epochs.join() !== this.lastEpochs;
    if (isNew) this.close();
    // Settlements first: admissions must see the spend that this process still has to hand in.
    link.prepare(epochs);
    await outbox.resume(isNew, source);
    this.lastEpochs = epochs.join();
    link.open(epochs);
    this.lastError = undefined;
    this.options.onOpen();
  }

  /** A connection may miss a fail-over or flush. Drained settlements can be dropped. */
  private async checkNow(): Promise<void> {
    const { link, outbox } = this.options;
    if (!link.isOpen) return this.trigger();
    try {
      for (const keys of link.shards) {
        const known = outbox.keptCount(keys.shard);
        const epoch = keys.known.epoch;
        const [state, { runId }] = await Promise.all([
          readQueueState(link.client, keys, epoch),
          readEpoch(link.client, keys),
        ]);
        if (!state.sameEpoch || !epoch.endsWith(` ${runId}`)) {
          this.close();
          return this.trigger();
        }
        outbox.dropDrained(keys.shard, state.firstId, known);
      }
      if (outbox.hasWaiting) this.trigger();
      this.options.onWatch();
    } catch {
      this.trigger();
    }
  }

  private pause(attempt: number): Promise<void> {
    return Bun.sleep(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)] ?? WATCH_MS);
  }
}
