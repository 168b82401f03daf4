import type { ChaosRedis } from './chaos-redis';
import type { Replica } from './replica';

/** Redis writes its append-only file within a second or two; beyond this nothing of before is lost by a kill. */
const SAFE_AFTER_MS = 3_000;

/**
 * The one thing the gateway does not promise: rows whose store loses data together with the process that handed them
 * over. So a run never does both at once: before Redis loses something, what killed gateways left there is on its disk
 * (before a flush: in the rows), and before a gateway is killed, all have handed in again what Redis has lost.
 */
export class ApartRule {
  private lossAtMs = 0;
  private losing = false;
  private handedInAtMs = 0;

  constructor(
    private readonly replicas: readonly Replica[],
    private readonly redis: ChaosRedis | undefined,
  ) {}

  /** Redis is about to lose data; call `end` when it is up again. */
  beginLoss(): { end(): void } {
    this.losing = true;
    return {
      end: () => {
        this.lossAtMs = Date.now();
        this.losing = false;
      },
    };
  }

  mayKillGateway(): boolean {
    return this.redis === undefined || (!this.losing && this.handedInAtMs >= this.lossAtMs);
  }

  mayKillRedis(): boolean {
    const lastKillMs = Math.max(...this.replicas.map(({ killedAtMs }) => killedAtMs));
    return this.redis?.isUpFor(SAFE_AFTER_MS) === true && Date.now() - lastKillMs >= SAFE_AFTER_MS;
  }

  async mayFlushRedis(): Promise<boolean> {
    if (this.redis === undefined || !this.mayKillRedis()) return false;
    const lastKillMs = Math.max(...this.replicas.map(({ killedAtMs }) => killedAtMs));
    const oldestMs = await this.redis.oldestEntryMs();
    return oldestMs === null || oldestMs > lastKillMs;
  }

  /** Looks whether every gateway that lived through a loss decides again: then it has handed in what was lost. */
  async watch(): Promise<void> {
    if (this.losing || this.handedInAtMs >= this.lossAtMs) return;
    const askedAtMs = Date.now();
    // A flush is noticed within a second.
    if (askedAtMs - this.lossAtMs < 1_500) return;
    const up = this.replicas.filter(({ isUp }) => isUp);
    const deciding = await Promise.all(up.map((replica) => replica.isDeciding()));
    if (deciding.every(Boolean)) this.handedInAtMs = askedAtMs;
  }
}
