// Redis does not answer: each settlement's reply fails by itself, and its owner hands it in again, naming the commit.
import type { Settlement } from '../hot-store';
import type { SettleMode, SettleOutcome } from '../outbox/settlement';
import { CommitGroup } from './commit-group';
import type { ShardKeys } from './keys';
import type { RedisLink } from './link';
import { runScript } from './scripts';
import { decodeSettle, encodeSettle } from './settle-args';
import type { WriteBatch } from './write-batch';

export interface RedisCommitsOptions {
  readonly batch: WriteBatch;
  readonly cacheMaxPerShard: () => number;
  readonly newId: () => string;
  /** A request that was refused, and may have a hold all the same. */
  readonly isUncertain: (requestId: string) => boolean;
}

export interface SentSettlement {
  readonly outcome: Promise<SettleOutcome>;
  /** The commit that carries it; who loses the reply names it when it hands the settlement in again. */
  readonly sentIn?: string;
}

interface Handed {
  readonly settlement: Settlement;
  resolve(outcome: SettleOutcome | Promise<SettleOutcome>): void;
  reject(error: unknown): void;
}
type Group = CommitGroup<Handed>;

/** The settlements of one turn and shard leave as one commit. */
export class RedisCommits {
  private readonly gathering = new Map<ShardKeys, Group>();
  private readonly process: string;
  private sent = 0;

  constructor(
    private readonly link: RedisLink,
    private readonly options: RedisCommitsOptions,
  ) {
    this.process = options.newId();
    options.batch.onLeaving(() => this.sendAll());
  }

  /** With others of the same turn; what is handed in again goes by `settleAlone`. */
  sendFirst(settlement: Settlement): SentSettlement {
    const { held, costNanoUsd, requestId } = settlement;
    // What was served without a hold may be told twice.
    if (!held && (costNanoUsd > 0 || this.options.isUncertain(requestId)))
      return { outcome: this.settleAlone(settlement, 'unheld') };
    const keys = this.link.keysOf(settlement.projectId);
    void this.options.batch.open();
    const { promise, resolve, reject } = Promise.withResolvers<SettleOutcome>();
    const group = this.groupOf(keys);
    group.add(settlement, { settlement, resolve, reject });
    return { outcome: promise, sentIn: group.id };
  }

  /** By all the rules. `sentIn`: the commit that may have carried it. */
  async settleAlone(settlement: Settlement, mode: SettleMode, sentIn?: string): Promise<SettleOutcome> {
    const keys = this.link.keysOf(settlement.projectId);
    const cacheMaxBytes = this.options.cacheMaxPerShard();
    const context = { keys, epoch: this.link.epochOf(keys), clock: this.link.clock, cacheMaxBytes, sentIn };
    return decodeSettle(await runScript(this.link.client, 'settle', encodeSettle(settlement, mode, context)));
  }

  private groupOf(keys: ShardKeys): Group {
    const gathering = this.gathering.get(keys);
    if (gathering !== undefined) {
      if (!gathering.isFull) return gathering;
      this.send(gathering);
    }
    const group: Group = new CommitGroup(`${this.process}:${++this.sent}`, keys, {
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

  private send(group: Group): void {
    const { members } = group;
    if (group.isRecordsOnly) {
      this.append(group);
      return;
    }
    runScript(this.link.client, 'commit', group.encode()).then(
      (reply) => {
        for (const [index, member] of members.entries()) {
          const outcome = decodeSettle(reply === 0 ? 0 : (reply as readonly unknown[])[index]);
          member.resolve(
            outcome.type === 'unknown' ? this.settleAlone(member.settlement, modeOf(member.settlement)) : outcome,
          );
        }
      },
      (error: unknown) => {
        for (const { reject } of members) reject(error);
      },
    );
  }

  /** Hits and denials change no counter: the bare appends, in one write, cost both sides a third of a script. */
  private append({ keys, members }: Group): void {
    for (const { settlement, resolve, reject } of members) {
      const { requestId, record } = settlement;
      this.link.client.xadd(keys.log, '*', 'i', requestId, 'r', record).then((entryId) => {
        if (entryId === null) reject(new Error('the log stream took no entry'));
        else resolve({ type: 'queued', entryId });
      }, reject);
    }
  }
}

const modeOf = ({ held }: Settlement): SettleMode => (held ? 'held' : 'unheld');
