// Redis does not answer: each settlement's reply fails by itself, and its owner hands it in again, naming the commit.
import { ReleasingMap } from '../../collections/releasing-map';
import type { Settlement } from '../hot-store';
import type { SettleMode, SettleOutcome } from '../outbox/settlement';
import { CommitGroup } from './commit-group';
import type { ShardKeys } from './keys';
import type { RedisLink } from './link';
import { runScript } from './scripts';
import { decodeSettle, encodeSettle } from './settle-args';
import type { WriteBatch } from './write-batch';

export interface RedisCommitsOptions<Handle> {
  readonly batch: WriteBatch;
  readonly cacheMaxPerShard: () => number;
  readonly newId: () => string;
  /** A request that was refused, and may have a hold all the same. */
  readonly isUncertain: (requestId: string) => boolean;
  /** Each first attempt reports to one of the two exactly once, and never synchronously. */
  readonly onTaken: (handle: Handle, outcome: SettleOutcome) => void;
  readonly onFailed: (handle: Handle) => void;
}

/** Settlements of one turn and shard form one commit. `Handle`: the owner's reference. */
export class RedisCommits<Handle> {
  private readonly gathering = new ReleasingMap<ShardKeys, CommitGroup<Handle>>();
  private readonly process: string;
  private sent = 0;

  constructor(
    private readonly link: RedisLink,
    private readonly options: RedisCommitsOptions<Handle>,
  ) {
    this.process = options.newId();
    options.batch.onLeaving(() => this.sendAll());
  }

  /**
   * Sends in the turn's batch; retries use `settleAlone`. Returns the commit, which a retry after a lost reply names.
   */
  sendFirst(settlement: Settlement, handle: Handle): string | undefined {
    const { held, costNanoUsd, requestId } = settlement;
    // A request without a hold may settle twice.
    if (!held && (costNanoUsd > 0 || this.options.isUncertain(requestId))) {
      this.tellAlone(settlement, handle, 'unheld');
      return undefined;
    }
    const keys = this.link.keysOf(settlement.projectId);
    void this.options.batch.open();
    const group = this.groupOf(keys);
    group.add(settlement, handle);
    return group.id;
  }

  private tellAlone(settlement: Settlement, handle: Handle, mode: SettleMode): void {
    const { onTaken, onFailed } = this.options;
    this.settleAlone(settlement, mode).then(
      (outcome) => onTaken(handle, outcome),
      () => onFailed(handle),
    );
  }

  /** Applies all rules. `sentIn`: the commit that may contain it. */
  async settleAlone(settlement: Settlement, mode: SettleMode, sentIn?: string): Promise<SettleOutcome> {
    const keys = this.link.keysOf(settlement.projectId);
    const cacheMaxBytes = this.options.cacheMaxPerShard();
    const context = { keys, epoch: this.link.epochOf(keys), clock: this.link.clock, cacheMaxBytes, sentIn };
    return decodeSettle(await runScript(this.link.client, 'settle', encodeSettle(settlement, mode, context)));
  }

  private groupOf(keys: ShardKeys): CommitGroup<Handle> {
    const gathering = this.gathering.get(keys);
    if (gathering !== undefined) {
      if (!gathering.isFull) return gathering;
      this.send(gathering);
    }
    const group = new CommitGroup<Handle>(`${this.process}:${++this.sent}`, keys, {
      epoch: this.link.epochOf(keys),
      clock: this.link.clock,
      cacheMaxBytes: this.options.cacheMaxPerShard(),
    });
    this.gathering.set(keys, group);
    return group;
  }

  private sendAll(): void {
    for (const group of this.gathering.values()) this.send(group);
    this.gathering.clear();
  }

  private send(group: CommitGroup<Handle>): void {
    if (group.isRecordsOnly) {
      this.append(group);
      return;
    }
    const { settlements, handles } = group;
    const { onTaken, onFailed } = this.options;
    runScript(this.link.client, 'commit', group.encode()).then(
      (reply) => {
        for (const [index, handle] of handles.entries()) {
          const outcome = decodeSettle(reply === 0 ? 0 : (reply as readonly unknown[])[index]);
          const settlement = settlements[index] as Settlement;
          if (outcome.type === 'unknown') this.tellAlone(settlement, handle, modeOf(settlement));
          else onTaken(handle, outcome);
        }
      },
      () => {
        for (const handle of handles) onFailed(handle);
      },
    );
  }

  /** Hits and denials change no counter: the bare appends, in one write, cost both sides a third of a script. */
  private append({ keys, settlements, handles }: CommitGroup<Handle>): void {
    const { onTaken, onFailed } = this.options;
    for (const [index, handle] of handles.entries()) {
      const { requestId, record } = settlements[index] as Settlement;
      this.link.client.xadd(keys.log, '*', 'i', requestId, 'r', record).then(
        (entryId) => (entryId === null ? onFailed(handle) : onTaken(handle, { type: 'queued', entryId })),
        () => onFailed(handle),
      );
    }
  }
}

const modeOf = ({ held }: Settlement): SettleMode => (held ? 'held' : 'unheld');
