// If Redis doesn't answer in time, the request is refused. Its possible hold is released once Redis is back.

import { ReleasingMap } from '../../collections/releasing-map';
import { encodeHold } from '../hold';
import type { AdmitDecision, AdmitRequest, Settlement } from '../hot-store';
import type { OpenHold } from '../outbox/hold-journal';
import { storeUnavailable } from '../store-unavailable';
import { AdmissionGroup } from './admission-group';
import { DeadlineQueue } from './deadline-queue';
import { decodeAdmit } from './decode-admit';
import type { ShardKeys } from './keys';
import type { RedisLink } from './link';
import { runScript } from './scripts';
import { encodeSettle } from './settle-args';
import type { WriteBatch } from './write-batch';

/** A decision that takes longer is refused: the caller's promise is 503 within 100 ms. */
export const ADMIT_DEADLINE_MS = 80;
/** Maximum of refused requests with possible holds; the reaper releases older ones. */
const UNCERTAIN_MAX = 10_000;

export interface RedisAdmissionsOptions {
  readonly deadlineMs: number;
  readonly queueMaxPerShard: () => number;
  readonly onTrouble: () => void;
  readonly batch: WriteBatch;
  /** Called for requests under absolute caps before their admission is visible. */
  readonly onOpened: (holds: readonly OpenHold[]) => void;
}

interface Asked {
  readonly request: AdmitRequest;
  resolve(decision: AdmitDecision): void;
  reject(error: unknown): void;
}
type Group = AdmissionGroup<Asked>;

/** Sends the decisions of one turn and shard in one round trip, once. */
export class RedisAdmissions {
  private readonly deadlines: DeadlineQueue;
  private readonly uncertain = new Map<string, AdmitRequest>();
  private readonly gathering = new ReleasingMap<ShardKeys, Group>();

  constructor(
    private readonly link: RedisLink,
    private readonly options: RedisAdmissionsOptions,
  ) {
    this.deadlines = new DeadlineQueue(options.deadlineMs);
    options.batch.onLeaving(() => this.sendAll());
  }

  admit(request: AdmitRequest): Promise<AdmitDecision> {
    const keys = this.link.keysOf(request.projectId);
    if (!this.link.isOpen) return Promise.reject(storeUnavailable('the store is not ready'));
    void this.options.batch.open();
    const { promise, resolve, reject } = Promise.withResolvers<AdmitDecision>();
    this.groupOf(keys).add(request, { request, resolve, reject });
    return promise;
  }

  private groupOf(keys: ShardKeys): Group {
    const gathering = this.gathering.get(keys);
    // Plans need current data, and a full batch is long enough for the store.
    if (gathering !== undefined) {
      if (!gathering.isFull && gathering.context.tables === this.link.tablesOf(keys)) return gathering;
      this.send(gathering);
    }
    const group: Group = new AdmissionGroup(keys, {
      epoch: this.link.epochOf(keys),
      tables: this.link.tablesOf(keys),
      clock: this.link.clock,
      queueMaxEntries: this.options.queueMaxPerShard(),
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
    let late = false;
    const inTime = this.deadlines.add(() => {
      late = true;
      for (const { request, reject } of members) {
        this.remember(request);
        reject(storeUnavailable(`no answer within ${this.options.deadlineMs} ms`));
      }
    });
    runScript(this.link.client, 'admit', group.encode()).then(
      (reply) => {
        inTime();
        this.take(members, reply as 0 | readonly unknown[], late);
      },
      (error: unknown) => {
        inTime();
        for (const { request } of members) this.release(request);
        this.options.onTrouble();
        if (late) return;
        for (const { reject } of members) reject(storeUnavailable('the store is not reachable', error));
      },
    );
  }

  /** `reply` 0: the store is in another epoch than this process believed, and decided nothing. */
  private take(members: readonly Asked[], reply: 0 | readonly unknown[], late: boolean): void {
    if (reply === 0) this.options.onTrouble();
    const nowMs = reply === 0 ? 0 : Number(reply[0]);
    if (!late && reply !== 0 && members.some(({ request }) => request.requested.isAbsolute === true)) {
      this.options.onOpened(openedOf(members, reply));
    }
    for (const [index, { request, resolve, reject }] of members.entries()) {
      const row = reply === 0 ? undefined : reply[index + 1];
      if (!Array.isArray(row)) {
        if (late) this.uncertain.delete(request.requestId);
        else
          reject(
            storeUnavailable(
              row === undefined ? 'the store is being rebuilt' : 'the store cannot read its own counters',
            ),
          );
        continue;
      }
      const decision = decodeAdmit(row, nowMs, request);
      if (!late) resolve(decision);
      else if (decision.type === 'admitted') this.release(request);
      else this.uncertain.delete(request.requestId);
    }
  }

  /** Releases possible holds of refused requests, whenever the store is writable again. */
  releaseUncertain(): void {
    for (const request of [...this.uncertain.values()]) this.release(request);
  }

  /** True if a refused request may have a hold, so that its end must settle the hold as well. */
  isUncertain(requestId: string): boolean {
    return this.uncertain.has(requestId);
  }

  private remember(request: AdmitRequest): void {
    this.uncertain.set(request.requestId, request);
    if (this.uncertain.size <= UNCERTAIN_MAX) return;
    const oldest = this.uncertain.keys().next().value;
    if (oldest !== undefined) this.uncertain.delete(oldest);
  }

  private release(request: AdmitRequest): void {
    this.remember(request);
    const keys = this.link.keysOf(request.projectId);
    if (!this.link.isOpen) return;
    const epoch = this.link.epochOf(keys);
    const args = encodeSettle(releaseOf(request), 'release', { keys, epoch, clock: this.link.clock, cacheMaxBytes: 0 });
    runScript(this.link.client, 'settle', args).then(
      (reply) => {
        if (reply === 1) this.uncertain.delete(request.requestId);
      },
      () => undefined,
    );
  }
}

function openedOf(members: readonly Asked[], reply: readonly unknown[]): OpenHold[] {
  const nowMs = Number(reply[0]);
  return members.flatMap(({ request }, index): OpenHold[] => {
    const row = reply[index + 1];
    const decision = Array.isArray(row) ? decodeAdmit(row, nowMs, request) : undefined;
    if (decision?.type !== 'admitted') return [];
    const plan = decision.plan === 'downgrade' ? (request.downgrade ?? request.requested) : request.requested;
    return plan.isAbsolute === true ? [[request.requestId, encodeHold(request, plan, nowMs)]] : [];
  });
}

function releaseOf(request: AdmitRequest): Settlement {
  return {
    requestId: request.requestId,
    projectId: request.projectId,
    keyId: request.keyId,
    ...(request.customerId === undefined ? {} : { customerId: request.customerId }),
    admittedAtMs: 0,
    held: true,
    costNanoUsd: 0,
    tokens: 0,
    record: '',
  };
}
