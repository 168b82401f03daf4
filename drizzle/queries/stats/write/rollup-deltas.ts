import { outcomeOf } from '@llm0/core/errors/outcome';
import { addToHistogram, type Histogram, mergeHistogram, packHistogram } from '@llm0/core/logs/histogram';
import { eachInSlices } from '@llm0/core/logs/in-slices';
import { type LogRecord, MODALITY_OF, type Modality } from '@llm0/core/logs/log-record';
import { utcDay } from '../utc-day';

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

interface Group {
  readonly fact: UsageFact;
  readonly bucketMs: number;
  requests: number;
  readonly sums: Sums;
  readonly histograms: Record<(typeof METRICS)[number], Histogram>;
}

/** Changes of one bucket size by roll-up key. */
export type Groups = ReadonlyMap<string, Group>;

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

/** Thousands of rows take milliseconds: other work is let in between. */
export async function groupFacts(facts: readonly SignedFact[], bucketMs: number): Promise<Groups> {
  const groups = new Map<string, Group>();
  await eachInSlices(facts, ({ fact, sign }) => {
    const group = groupOf(groups, fact, fact.createdAtMs - (fact.createdAtMs % bucketMs));
    group.requests += sign * fact.requests;
    for (const name of SUMS) group.sums[name] += sign * fact[name];
    for (const name of METRICS) {
      const value = fact[name];
      if (value !== null) addToHistogram(group.histograms[name], value, sign);
    }
  });
  return groups;
}

/** Merges changes into larger buckets: thousands of rows become a few groups, which no longer change. */
export function coarsen(fine: Groups, bucketMs: number): Groups {
  const groups = new Map<string, Group>();
  const merged = new Set<Group>();
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

const copyOf = ({ latencyMs, ttftMs, overheadMs, upstreamMs }: Group['histograms']): Group['histograms'] => ({
  ...{ latencyMs: new Map(latencyMs), ttftMs: new Map(ttftMs) },
  ...{ overheadMs: new Map(overheadMs), upstreamMs: new Map(upstreamMs) },
});

/** Control characters separate a key's fields: ids never contain them, and names stay distinguishable. */
const PART = '\u0000';

function keyOf(fact: UsageFact, bucketMs: number): string {
  const { projectId, apiKeyId, model, provider, cache } = fact;
  const status = outcomeOf(fact.status, fact.errorCode);
  return bucketMs + PART + projectId + PART + apiKeyId + PART + status + PART + cache + PART + provider + PART + model;
}

function groupOf(groups: Map<string, Group>, fact: UsageFact, bucketMs: number): Group {
  const key = keyOf(fact, bucketMs);
  let group = groups.get(key);
  if (group === undefined) {
    group = {
      fact,
      bucketMs,
      requests: 0,
      sums: Object.fromEntries(SUMS.map((name) => [name, 0])) as Sums,
      histograms: { latencyMs: new Map(), ttftMs: new Map(), overheadMs: new Map(), upstreamMs: new Map() },
    };
    groups.set(key, group);
  }
  return group;
}

/**
 * Changes of `customer_spend`; `date` is `YYYY-MM-DD`, UTC. `served`: requests that had a provider; names with refused
 * requests only may be invented.
 */
export const customerDeltas = (facts: readonly SignedFact[]) =>
  sumUp(facts, (fact) => {
    const { projectId, customerId, createdAtMs, requests, provider, tokensIn, tokensOut, costNanoUsd, savedNanoUsd } =
      fact;
    if (customerId === null) return undefined;
    const served = provider === '' && costNanoUsd === 0 ? 0 : 1;
    return {
      at: { projectId, customerId, date: utcDay(createdAtMs) },
      adds: { requests, served, tokensIn, tokensOut, costNanoUsd, savedNanoUsd },
    };
  });

/** Changes of `rollup_error`: of rows with an error code only. */
export const errorDeltas = (facts: readonly SignedFact[], bucketMs: number) =>
  sumUp(facts, ({ projectId, model, provider, status, errorCode, createdAtMs, requests }) =>
    errorCode === null
      ? undefined
      : {
          at: { bucketMs: createdAtMs - (createdAtMs % bucketMs), projectId, model, provider, status, errorCode },
          adds: { requests },
        },
  );

/** Changes of `rollup_modality_hour` and `_day`: of rows that aren't text. */
export const modalityDeltas = (facts: readonly SignedFact[], bucketMs: number) =>
  sumUp(facts, (fact) => {
    const { modality, projectId, apiKeyId, model, provider, cache, createdAtMs } = fact;
    if (modality === 'text') return undefined;
    const { requests, tokensCacheRead, tokensCacheWrite, costNanoUsd, savedNanoUsd } = fact;
    return {
      at: { bucketMs: createdAtMs - (createdAtMs % bucketMs), projectId, apiKeyId, model, provider, cache, modality },
      adds: { requests, tokensCacheRead, tokensCacheWrite, costNanoUsd, savedNanoUsd },
    };
  });

/** Spend by label and UTC day, of rows that cost something. */
export function labelDeltas(facts: readonly SignedFact[]) {
  const labelled = facts.flatMap(({ fact: { labels, projectId, createdAtMs, costNanoUsd }, sign }) =>
    labels === null || costNanoUsd === 0
      ? []
      : Object.entries(labels).map(([label, value]) => ({
          fact: { at: { projectId, label, value, date: utcDay(createdAtMs) }, adds: { costNanoUsd } },
          sign,
        })),
  );
  return sumUp(labelled, (fact) => fact);
}

interface Share<At extends object, Sum extends string> {
  readonly at: At;
  readonly adds: Record<Sum, number>;
}

/** One change for each key, sorted; drops those that cancel out. */
function sumUp<Fact, At extends object, Sum extends string>(
  facts: readonly { readonly fact: Fact; readonly sign: 1 | -1 }[],
  shareOf: (fact: Fact) => Share<At, Sum> | undefined,
): readonly (At & Record<Sum, number>)[] {
  const sums = new Map<string, Share<At, Sum>>();
  for (const { fact, sign } of facts) {
    const share = shareOf(fact);
    if (share === undefined) continue;
    let key = '';
    for (const name in share.at) key += share.at[name] + PART;
    const sum = sums.get(key);
    for (const name in share.adds) share.adds[name] = (sum?.adds[name] ?? 0) + sign * share.adds[name];
    if (sum === undefined) sums.set(key, share);
    else Object.assign(sum.adds, share.adds);
  }
  return inOrder(sums)
    .filter(({ adds }) => Object.values(adds).some((n) => n !== 0))
    .map(({ at, adds }) => ({ ...at, ...adds }));
}

/** By key, so that two writers never wait for each other. */
const inOrder = <T>(sums: ReadonlyMap<string, T>): readonly T[] =>
  [...sums.keys()].sort().map((key) => sums.get(key) as T);
