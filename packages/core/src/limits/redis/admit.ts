// If Redis doesn't answer in time, the request is refused. Its possible hold is released once Redis is back.

import { encodeHold } from '../hold';
import type { AdmitDecision, AdmitRequest, Settlement } from '../hot-store';
import type { OpenHold } from '../outbox/hold-journal';
import { storeUnavailable } from '../store-unavailable';
import { AdmissionGroup, decodeAdmit } from './admission-group';
import type { ShardKeys } from './keys';
import type { RedisLink } from './link';
import { runScript } from './scripts';
import { encodeSettle } from './settle-args';
import type { Sender, WriteBatch } from './write-batch';

/** A decision that takes longer is refused: the caller's promise is 503 within 100 ms. */
export const ADMIT_DEADLINE_MS = 80;
/** Maximum of refused requests with possible holds; the reaper releases older ones. */
const UNCERTAIN_MAX = 10_000;

export interface RedisAdmissionsOptions {
  readonly deadlineMs: number;
  /** Of all shards. */
  readonly queueMaxEntries: number;
  readonly onTrouble: () => void;
  readonly batch: WriteBatch;
  /** Counts the budgets of a request from the rows. */
  readonly count: (request: AdmitRequest) => Promise<unknown>;
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
export class RedisAdmissions implements Sender {
  private readonly deadlines: DeadlineQueue;
  private readonly uncertain = new Map<string, AdmitRequest>();
  /** By shard, in this turn. */
  private readonly gathering: (Group | undefined)[] = [];

  constructor(
    private readonly link: RedisLink,
    private readonly options: RedisAdmissionsOptions,
  ) {
    this.deadlines = new DeadlineQueue(options.deadlineMs);
  }

  admit(request: AdmitRequest): Promise<AdmitDecision> {
    const account = this.link.accounts.of(request.projectId, request.keyId, request.customerId);
    if (!this.link.isOpen) return Promise.reject(storeUnavailable('the store is not ready'));
    const { promise, resolve, reject } = Promise.withResolvers<AdmitDecision>();
    this.groupOf(account.keys).add(request, account, { request, resolve, reject });
    return promise;
  }

  send(): void {
    try {
      for (const group of this.gathering) if (group !== undefined) void this.sendGroup(group);
    } finally {
      this.gathering.length = 0;
    }
  }

  private groupOf(keys: ShardKeys): Group {
    const gathering = this.gathering[keys.shard];
    // Plans need current data, and a full batch is long enough for the store.
    if (gathering !== undefined && !gathering.isFull && gathering.tables === keys.known.tables) return gathering;
    if (gathering !== undefined) void this.sendGroup(gathering);
    else if (this.gathering.length === 0) void this.options.batch.open(this);
    const { given, shards } = this.link;
    const queueMaxEntries = Math.ceil(this.options.queueMaxEntries / shards.length);
    const group: Group = new AdmissionGroup(keys, given?.() ?? '', queueMaxEntries);
    this.gathering[keys.shard] = group;
    return group;
  }

  private async sendGroup(group: Group): Promise<void> {
    const inTime = this.deadlines.add(() => this.expire(group));
    let reply: unknown;
    try {
      reply = await runScript(this.link.client, 'admit', group.encode());
    } catch (error) {
      inTime();
      for (const { request } of group.members) this.release(request);
      this.options.onTrouble();
      if (group.isLate) return;
      for (const { reject } of group.members) reject(storeUnavailable('the store is not reachable', error));
      return;
    }
    inTime();
    this.take(group, reply as 0 | readonly unknown[]);
  }

  private expire(group: Group): void {
    group.isLate = true;
    for (const { request, reject } of group.members) {
      this.remember(request);
      reject(storeUnavailable(`no answer within ${this.options.deadlineMs} ms`));
    }
  }

  /** `reply` 0: the store is in another epoch than this process believed, and decided nothing. */
  private take(group: Group, reply: 0 | readonly unknown[]): void {
    const { members, isLate } = group;
    if (reply === 0) this.options.onTrouble();
    const nowMs = reply === 0 ? 0 : Number(reply[0]);
    if (group.isAbsolute && !isLate && reply !== 0) this.options.onOpened(openedOf(members, reply));
    for (let index = 0; index < members.length; index++) {
      const { request, resolve, reject } = members[index] as Asked;
      const row = reply === 0 ? undefined : reply[index + 1];
      if (!Array.isArray(row)) {
        if (isLate) this.uncertain.delete(request.requestId);
        else
          reject(
            storeUnavailable(
              row === undefined ? 'the store is being rebuilt' : 'the store cannot read its own counters',
            ),
          );
        continue;
      }
      const decision = decodeAdmit(row, nowMs, request);
      if (decision.type === 'uncounted') this.countFirst(members[index] as Asked, isLate);
      else if (!isLate) resolve(decision);
      else if (decision.type === 'admitted') this.release(request);
      else this.uncertain.delete(request.requestId);
    }
  }

  /** Nothing is held: the request is asked again once its budgets are counted. */
  private countFirst({ request, resolve, reject }: Asked, isLate: boolean): void {
    if (isLate) this.uncertain.delete(request.requestId);
    else
      this.options
        .count(request)
        .then(() => this.admit(request))
        .then(resolve, reject);
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
    const context = { keys, epoch: keys.known.epoch, clock: this.link.clock, cacheMaxBytes: 0 };
    const args = encodeSettle(releaseOf(request), 'release', context);
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

const TICK_MS = 10;
/** A longer gap between ticks means a busy event loop: unread answers may be waiting. */
const COUNTED_MS = 2 * TICK_MS;
/** A reply within this time proves that the server is busy, not away: others are in line. */
const AT_WORK_MS = 15;
/** Maximum wait in time-outs, even for a busy server. */
const MOST_LENGTHS = 10;

interface Waiting {
  readonly sinceMs: number;
  /** Start by the clock that stops while the event loop is busy. */
  readonly sinceCountedMs: number;
  /** undefined after the reply, so that nothing lives until the deadline. */
  expire: (() => void) | undefined;
}

/**
 * Many equal deadlines on one timer: one for each request would cost more than its decision. They apply to a silent
 * server; while it answers others, or this process is busy, requests keep waiting.
 */
export class DeadlineQueue {
  private queue: Waiting[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private answeredAtMs = 0;
  private countedMs = 0;
  private tickedAtMs = 0;

  constructor(private readonly lengthMs: number) {}

  /**
   * Calls `expire` once after the length, at most two ticks late, unless the returned function was called before. Call
   * that one for late answers too.
   */
  add(expire: () => void): () => void {
    const sinceMs = performance.now();
    if (this.timer === undefined) this.tickedAtMs = sinceMs;
    const waiting: Waiting = { sinceMs, sinceCountedMs: this.countedAt(sinceMs), expire };
    this.queue.push(waiting);
    this.timer ??= setTimeout(this.tick, TICK_MS);
    return () => {
      waiting.expire = undefined;
      this.answeredAtMs = performance.now();
    };
  }

  private readonly tick = (): void => {
    this.timer = undefined;
    const nowMs = performance.now();
    this.countedMs = this.countedAt(nowMs);
    this.tickedAtMs = nowMs;
    const startedBefore = this.countedMs - this.lengthMs;
    const firstLive = this.queue.findIndex(
      (waiting) => waiting.expire !== undefined && waiting.sinceCountedMs > startedBefore,
    );
    const over = firstLive < 0 ? this.queue : this.queue.slice(0, firstLive);
    this.queue = firstLive < 0 ? [] : this.queue.slice(firstLive);
    if (this.queue.length > 0) this.timer = setTimeout(this.tick, TICK_MS);
    // Runs after the event loop has read arrivals.
    if (over.some(({ expire }) => expire !== undefined)) setImmediate(() => this.expireAll(over));
  };

  private countedAt(nowMs: number): number {
    return this.countedMs + Math.min(nowMs - this.tickedAtMs, COUNTED_MS);
  }

  private expireAll(over: readonly Waiting[]): void {
    const nowMs = performance.now();
    const isAtWork = nowMs - this.answeredAtMs < AT_WORK_MS;
    const inLine: Waiting[] = [];
    for (const waiting of over) {
      if (waiting.expire === undefined) continue;
      if (isAtWork && nowMs - waiting.sinceMs < MOST_LENGTHS * this.lengthMs) inLine.push(waiting);
      else waiting.expire();
    }
    if (inLine.length === 0) return;
    this.queue = [...inLine, ...this.queue];
    if (this.timer === undefined) this.tickedAtMs = nowMs;
    this.timer ??= setTimeout(this.tick, TICK_MS);
  }
}
