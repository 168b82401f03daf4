import { outcomeOf } from '@llm0/core/errors/outcome';
import { type Histogram, mergeHistogram, packHistogram } from '@llm0/core/logs/histogram';
import { type LogRecord, MODALITY_OF, type Modality } from '@llm0/core/logs/log-record';

export const MINUTE_MS = 60_000;

/** Roll-up increments of a row. */
export interface UsageFact {
  readonly createdAtMs: number;
  readonly projectId: string;
  readonly apiKeyId: string;
  readonly model: string;
  /** The provider that answered; '' when unknown. */
  readonly provider: string;
  readonly status: string;
  readonly cache: 'exact' | 'semantic' | 'miss';
  /** `tool` for calls of tools. */
  readonly modality: Modality | 'tool';
  /** More than one for refusals that were folded into a row. */
  readonly requests: number;
  readonly customerId: string | null;
  readonly labels: Readonly<Record<string, string>> | null;
  readonly errorCode: string | null;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly tokensCacheRead: number;
  readonly tokensCacheWrite: number;
  readonly tokensReasoning: number;
  readonly costNanoUsd: number;
  readonly savedNanoUsd: number;
  readonly failovers: number;
  readonly latencyMs: number | null;
  readonly ttftMs: number | null;
  readonly overheadMs: number | null;
  readonly upstreamMs: number | null;
}

/** +1 for a row that was written, −1 for one that was replaced. */
export interface SignedFact {
  readonly fact: UsageFact;
  readonly sign: 1 | -1;
}

const SUMS = [
  'tokensIn',
  'tokensOut',
  'tokensCacheRead',
  'tokensCacheWrite',
  'tokensReasoning',
  'costNanoUsd',
  'savedNanoUsd',
  'failovers',
] as const;
const METRICS = ['latencyMs', 'ttftMs', 'overheadMs', 'upstreamMs'] as const;

type Sums = Record<(typeof SUMS)[number], number>;

/** One roll-up row's change, ready for JSON; histograms are packed and written as Postgres reads bytes. */
export interface RollupDelta extends Sums, Record<(typeof METRICS)[number], string> {
  readonly bucketMs: number;
  readonly projectId: string;
  readonly apiKeyId: string;
  readonly model: string;
  readonly provider: string;
  readonly status: string;
  readonly cache: string;
  readonly requests: number;
}

export function factOf(record: LogRecord): UsageFact {
  return {
    createdAtMs: record.createdAtMs,
    projectId: record.projectId.toLowerCase(),
    apiKeyId: record.apiKeyId.toLowerCase(),
    model: record.model,
    provider: record.finalProvider ?? record.provider ?? '',
    status: record.status,
    cache: record.semanticCacheHit ? 'semantic' : record.cacheHit ? 'exact' : 'miss',
    modality: record.modality ?? MODALITY_OF[record.dialect] ?? 'text',
    requests: record.refusedCount ?? 1,
    customerId: record.customerId ?? null,
    labels: record.labels ?? null,
    errorCode: record.errorCode ?? null,
    tokensIn: record.tokensIn,
    tokensOut: record.tokensOut,
    tokensCacheRead: record.tokensCacheRead,
    tokensCacheWrite: record.tokensCacheWrite,
    tokensReasoning: record.tokensReasoning,
    costNanoUsd: record.costNanoUsd,
    savedNanoUsd: record.savedNanoUsd,
    failovers: record.failoverCount,
    latencyMs: record.latencyMs,
    ttftMs: record.ttftMs ?? null,
    overheadMs: record.overheadMs ?? null,
    upstreamMs: record.upstreamMs ?? null,
  };
}

/** Rows of one roll-up key. */
export interface RowGroup {
  readonly fact: UsageFact;
  readonly bucketMs: number;
  requests: number;
  readonly sums: Sums;
  readonly histograms: Record<(typeof METRICS)[number], Histogram>;
}

/** Changes of one bucket size by roll-up key. */
export type Groups = ReadonlyMap<string, RowGroup>;

/** Changes by group, without unchanged ones. */
export function toDeltas(groups: Groups): readonly RollupDelta[] {
  const deltas: RollupDelta[] = [];
  for (const group of inOrder(groups)) {
    const { fact, requests, sums, histograms } = group;
    if (
      requests === 0 &&
      SUMS.every((name) => sums[name] === 0) &&
      METRICS.every((name) => histograms[name].size === 0)
    )
      continue;
    deltas.push({
      bucketMs: group.bucketMs,
      projectId: fact.projectId,
      apiKeyId: fact.apiKeyId,
      model: fact.model,
      provider: fact.provider,
      status: outcomeOf(fact.status, fact.errorCode),
      cache: fact.cache,
      requests,
      ...sums,
      latencyMs: toBytea(histograms.latencyMs),
      ttftMs: toBytea(histograms.ttftMs),
      overheadMs: toBytea(histograms.overheadMs),
      upstreamMs: toBytea(histograms.upstreamMs),
    });
  }
  return deltas;
}

/** Coarser groups share histograms with finer ones. */
const packed = new WeakMap<Histogram, string>();

const toBytea = (histogram: Histogram): string =>
  packed.getOrInsertComputed(histogram, () => `\\x${packHistogram(histogram).toHex()}`);

/** Merges changes into larger buckets: thousands of rows become a few groups, which no longer change. */
export function coarsen(fine: Groups, bucketMs: number): Groups {
  const groups = new Map<string, RowGroup>();
  const merged = new Set<RowGroup>();
  for (const part of fine.values()) {
    const startMs = part.bucketMs - (part.bucketMs % bucketMs);
    const key = keyOf(part.fact, startMs);
    let group = groups.get(key);
    if (group === undefined) {
      // Mostly it stays the only one.
      groups.set(key, { ...part, bucketMs: startMs });
      continue;
    }
    if (!merged.has(group)) {
      group = { ...group, sums: { ...group.sums }, histograms: copyOf(group.histograms) };
      groups.set(key, group);
      merged.add(group);
    }
    group.requests += part.requests;
    for (const name of SUMS) group.sums[name] += part.sums[name];
    for (const name of METRICS) mergeHistogram(group.histograms[name], part.histograms[name]);
  }
  return groups;
}

const copyOf = ({ latencyMs, ttftMs, overheadMs, upstreamMs }: RowGroup['histograms']): RowGroup['histograms'] => ({
  ...{ latencyMs: new Map(latencyMs), ttftMs: new Map(ttftMs) },
  ...{ overheadMs: new Map(overheadMs), upstreamMs: new Map(upstreamMs) },
});

/** Control characters separate a key's fields: ids never contain them, and names stay distinguishable. */
export const PART = '\u0000';

export function keyOf(fact: UsageFact, bucketMs: number): string {
  const { projectId, apiKeyId, model, provider, cache } = fact;
  const status = outcomeOf(fact.status, fact.errorCode);
  return bucketMs + PART + projectId + PART + apiKeyId + PART + status + PART + cache + PART + provider + PART + model;
}

export const emptyGroup = (fact: UsageFact, bucketMs: number): RowGroup => ({
  ...{ fact, bucketMs, requests: 0 },
  sums: {
    ...{ tokensIn: 0, tokensOut: 0, tokensCacheRead: 0, tokensCacheWrite: 0, tokensReasoning: 0 },
    ...{ costNanoUsd: 0, savedNanoUsd: 0, failovers: 0 },
  },
  histograms: { latencyMs: new Map(), ttftMs: new Map(), overheadMs: new Map(), upstreamMs: new Map() },
});

/** By key, as the index has them: in any other order, a row takes Postgres a fifth longer. */
export const inOrder = <T>(sums: ReadonlyMap<string, T>): readonly T[] =>
  [...sums.keys()].sort().map((key) => sums.get(key) as T);
