import { outcomeOf } from '@llm0/core/errors/outcome';
import { addToHistogram } from '@llm0/core/logs/histogram';
import { utcDay } from '../utc-day';
import {
  emptyGroup,
  inOrder,
  keyOf,
  MINUTE_MS,
  PART,
  type RowGroup,
  type SignedFact,
  type UsageFact,
} from './rollup-deltas';

const HOUR_MS = 60 * MINUTE_MS;

/** Requests of a second, those that failed, through the callers' fault or not, and those that a limit refused. */
export type SecondCounts = [second: number, requests: number, failed: number, callerErrors: number, refused: number];

/**
 * Everything that the rows of a batch change elsewhere, summed up as each row is read: a batch of 50,000 rows is too large
 * for a processor's caches to be gone through for each sum.
 */
export class BatchSums {
  /** Some rows were taken back. */
  hasCorrections = false;
  /** By roll-up key and minute. */
  readonly minutes = new Map<string, RowGroup>();
  /** Rows with labels. */
  readonly labelled: SignedFact[] = [];
  /** When each key was last used. */
  readonly keyUses = new Map<string, number>();
  private readonly seconds = new Map<number, SecondCounts>();
  private readonly customers = new Map<string, CustomerDelta>();
  private readonly errors = new Map<string, ErrorDelta>();
  private readonly modalities = new Map<string, ModalityDelta>();

  /** −1 for a row that was replaced. */
  add(fact: UsageFact, sign: 1 | -1 = 1): void {
    this.addToAll(fact, sign);
    if (sign === 1) this.noteUse(fact.apiKeyId, fact.createdAtMs);
    const second = Math.floor((fact.createdAtMs + (fact.latencyMs ?? 0)) / 1000);
    const counts = this.seconds.get(second) ?? [second, 0, 0, 0, 0];
    this.seconds.set(second, counts);
    const requests = sign * fact.requests;
    counts[1] += requests;
    const outcome = outcomeOf(fact.status, fact.errorCode);
    if (outcome === 'error') counts[2] += requests;
    if (outcome === 'caller_error') counts[3] += requests;
    if (outcome === 'rate_limited' || outcome === 'cap_exceeded') counts[4] += requests;
  }

  /** Calls of tools, which are no requests. `facts`: of those that cost something. */
  addCalls({ facts, written }: Calls): void {
    for (const { fact, sign } of facts) this.addToAll(fact, sign);
    for (const { apiKeyId, createdAtMs } of written) this.noteUse(apiKeyId.toLowerCase(), createdAtMs);
  }

  private noteUse(apiKeyId: string, atMs: number): void {
    if (atMs > (this.keyUses.get(apiKeyId) ?? 0)) this.keyUses.set(apiKeyId, atMs);
  }

  private addToAll(fact: UsageFact, sign: 1 | -1): void {
    if (sign === -1) this.hasCorrections = true;
    this.addToMinute(fact, sign);
    if (fact.labels !== null) this.labelled.push({ fact, sign });
    if (fact.customerId !== null) this.addToCustomer(fact, fact.customerId, sign);
    if (fact.errorCode !== null) this.addToError(fact, fact.errorCode, sign);
    if (fact.modality !== 'text') this.addToModality(fact, sign);
  }

  /** Requests by the second in which they ended. */
  bySecond(): readonly SecondCounts[] {
    return [...this.seconds.values()];
  }

  /** Changes of `customer_spend`. */
  customerDeltas(): readonly CustomerDelta[] {
    return inOrder(this.customers).filter((delta) => CUSTOMER_SUMS.some((name) => delta[name] !== 0));
  }

  /** Changes of `rollup_error`. */
  errorDeltas(): readonly ErrorDelta[] {
    return inOrder(this.errors).filter(({ requests }) => requests !== 0);
  }

  /** Changes of `rollup_modality_hour`, or of `_day`. */
  modalityDeltas(bucketMs: number): readonly ModalityDelta[] {
    const deltas = new Map<string, ModalityDelta>();
    for (const delta of this.modalities.values())
      addModality(deltas, delta, delta.bucketMs - (delta.bucketMs % bucketMs));
    return inOrder(deltas).filter((delta) => MODALITY_SUMS.some((name) => delta[name] !== 0));
  }

  private addToMinute(fact: UsageFact, sign: 1 | -1): void {
    const bucketMs = fact.createdAtMs - (fact.createdAtMs % MINUTE_MS);
    const key = keyOf(fact, bucketMs);
    let group = this.minutes.get(key);
    if (group === undefined) {
      group = emptyGroup(fact, bucketMs);
      this.minutes.set(key, group);
    }
    group.requests += sign * fact.requests;
    const { sums, histograms } = group;
    sums.tokensIn += sign * fact.tokensIn;
    sums.tokensOut += sign * fact.tokensOut;
    sums.tokensCacheRead += sign * fact.tokensCacheRead;
    sums.tokensCacheWrite += sign * fact.tokensCacheWrite;
    sums.tokensReasoning += sign * fact.tokensReasoning;
    sums.costNanoUsd += sign * fact.costNanoUsd;
    sums.savedNanoUsd += sign * fact.savedNanoUsd;
    sums.failovers += sign * fact.failovers;
    if (fact.latencyMs !== null) addToHistogram(histograms.latencyMs, fact.latencyMs, sign);
    if (fact.ttftMs !== null) addToHistogram(histograms.ttftMs, fact.ttftMs, sign);
    if (fact.overheadMs !== null) addToHistogram(histograms.overheadMs, fact.overheadMs, sign);
    if (fact.upstreamMs !== null) addToHistogram(histograms.upstreamMs, fact.upstreamMs, sign);
  }

  private addToCustomer(fact: UsageFact, customerId: string, sign: 1 | -1): void {
    const { projectId, costNanoUsd } = fact;
    const date = utcDay(fact.createdAtMs);
    const key = projectId + PART + customerId + PART + date;
    let delta = this.customers.get(key);
    if (delta === undefined) {
      const sums = { requests: 0, served: 0, tokensIn: 0, tokensOut: 0, costNanoUsd: 0, savedNanoUsd: 0 };
      delta = { projectId, customerId, date, ...sums };
      this.customers.set(key, delta);
    }
    delta.requests += sign * fact.requests;
    if (fact.provider !== '' || costNanoUsd !== 0) delta.served += sign;
    delta.tokensIn += sign * fact.tokensIn;
    delta.tokensOut += sign * fact.tokensOut;
    delta.costNanoUsd += sign * costNanoUsd;
    delta.savedNanoUsd += sign * fact.savedNanoUsd;
  }

  private addToError(fact: UsageFact, errorCode: string, sign: 1 | -1): void {
    const { projectId, model, provider, status, createdAtMs, requests } = fact;
    const bucketMs = createdAtMs - (createdAtMs % HOUR_MS);
    const key = bucketMs + PART + projectId + PART + model + PART + provider + PART + status + PART + errorCode;
    const delta = this.errors.get(key) ?? { bucketMs, projectId, model, provider, status, errorCode, requests: 0 };
    delta.requests += sign * requests;
    this.errors.set(key, delta);
  }

  private addToModality(fact: UsageFact, sign: 1 | -1): void {
    const { createdAtMs } = fact;
    addModality(this.modalities, fact, createdAtMs - (createdAtMs % HOUR_MS), sign);
  }
}

interface Calls {
  readonly facts: readonly SignedFact[];
  readonly written: readonly Pick<UsageFact, 'apiKeyId' | 'createdAtMs'>[];
}

interface CustomerDelta {
  readonly projectId: string;
  readonly customerId: string;
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
  requests: number;
  /** Requests that had a provider: names with refused ones only may be invented. */
  served: number;
  tokensIn: number;
  tokensOut: number;
  costNanoUsd: number;
  savedNanoUsd: number;
}

interface ErrorDelta extends Pick<UsageFact, 'projectId' | 'model' | 'provider' | 'status'> {
  readonly bucketMs: number;
  readonly errorCode: string;
  requests: number;
}

const CUSTOMER_SUMS = ['requests', 'served', 'tokensIn', 'tokensOut', 'costNanoUsd', 'savedNanoUsd'] as const;
const MODALITY_SUMS = ['requests', 'tokensCacheRead', 'tokensCacheWrite', 'costNanoUsd', 'savedNanoUsd'] as const;

type ModalityFact = Pick<UsageFact, 'projectId' | 'apiKeyId' | 'model' | 'provider' | 'cache' | 'modality'> &
  Pick<UsageFact, (typeof MODALITY_SUMS)[number]>;

type ModalityDelta = { -readonly [Name in keyof ModalityFact]: ModalityFact[Name] } & { readonly bucketMs: number };

/** Seldom: most rows are text. */
function addModality(deltas: Map<string, ModalityDelta>, fact: ModalityFact, bucketMs: number, sign: 1 | -1 = 1): void {
  const { projectId, apiKeyId, model, provider, cache, modality } = fact;
  const at = { bucketMs, projectId, apiKeyId, model, provider, cache, modality };
  const none = { requests: 0, tokensCacheRead: 0, tokensCacheWrite: 0, costNanoUsd: 0, savedNanoUsd: 0 };
  const delta = deltas.getOrInsertComputed(Object.values(at).join(PART), () => ({ ...at, ...none }));
  for (const name of MODALITY_SUMS) delta[name] += sign * fact[name];
}
