// Redis does not answer in time: the request is refused, and what it may hold is released as soon as Redis is back.

import type { AdmitDecision, AdmitRequest, Settlement } from '../hot-store';
import { storeUnavailable } from '../store-unavailable';
import { decodeAdmit, encodeAdmit } from './admit-args';
import { DeadlineQueue } from './deadline-queue';
import type { RedisLink } from './link';
import { runScript } from './scripts';
import { encodeSettle } from './settle-args';
import type { WriteBatch } from './write-batch';

/** A decision that takes longer is refused: the caller's promise is 503 within 100 ms. */
export const ADMIT_DEADLINE_MS = 80;
/** Refused requests whose holds may exist; beyond this many the reaper releases the oldest. */
const UNCERTAIN_MAX = 10_000;

export interface RedisAdmissionsOptions {
  readonly deadlineMs: number;
  readonly queueMaxPerShard: () => number;
  readonly onTrouble: () => void;
  readonly batch: WriteBatch;
}

/** Asks for decisions, one round trip each, sent once. */
export class RedisAdmissions {
  private readonly deadlines: DeadlineQueue;
  private readonly uncertain = new Map<string, AdmitRequest>();

  constructor(
    private readonly link: RedisLink,
    private readonly options: RedisAdmissionsOptions,
  ) {
    this.deadlines = new DeadlineQueue(options.deadlineMs);
  }

  admit(request: AdmitRequest): Promise<AdmitDecision> {
    const keys = this.link.keysOf(request.projectId);
    if (!this.link.isOpen) return Promise.reject(storeUnavailable('the store is not ready'));
    const epoch = this.link.epochOf(keys);
    const args = encodeAdmit(request, {
      keys,
      epoch,
      tables: this.link.tablesOf(keys),
      clock: this.link.clock,
      queueMaxEntries: this.options.queueMaxPerShard(),
    });
    this.options.batch.open();
    return new Promise((resolve, reject) => {
      let late = false;
      const inTime = this.deadlines.add(() => {
        late = true;
        this.remember(request);
        reject(storeUnavailable(`no answer within ${this.options.deadlineMs} ms`));
      });
      runScript(this.link.client, 'admit', args).then(
        (reply) => {
          inTime();
          const decision = decodeAdmit(reply as readonly unknown[], request);
          if (decision === undefined) this.options.onTrouble();
          if (late) {
            if (decision?.type === 'admitted') this.release(request);
            else this.uncertain.delete(request.requestId);
          } else if (decision === undefined) reject(storeUnavailable('the store is being rebuilt'));
          else resolve(decision);
        },
        (error: unknown) => {
          inTime();
          this.release(request);
          this.options.onTrouble();
          if (!late) reject(storeUnavailable('the store is not reachable', error));
        },
      );
    });
  }

  /** Releases what refused requests may still hold. Called whenever the store has become writable again. */
  releaseUncertain(): void {
    for (const request of [...this.uncertain.values()]) this.release(request);
  }

  /** Whether a refused request may have a hold, so that its end must be told to the hold as well. */
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
