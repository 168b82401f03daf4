import type { LogStatus } from '@llm0/core/errors/error-table';
import { hashSecret } from '@llm0/core/keys/api-key';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import { nanoFromUsd } from '../money';
import type { LimitColumns } from '../queries/limits/customer-limits';
import PROVIDER_NAMES from './provider-names.json';
import type { SourceKey, SourceLimits, SourceLog, SourcePrice, SourceProject } from './source';

/** Deleted keys keep their rows. */
const NO_KEY = '00000000-0000-0000-0000-000000000000';
/** The Go project shows the first 15 characters and dots. */
const DOTS = /\.{3}$|…$/;

const names: Readonly<Record<string, string>> = PROVIDER_NAMES;
const providerOf = (name: string): string => names[name.toLowerCase()] ?? name.toLowerCase();
const nanoOrNull = (usd: string | null): number | null => (usd === null ? null : nanoFromUsd(usd));

export function convertProject(project: SourceProject) {
  return {
    id: project.id,
    name: project.name,
    isActive: project.is_active ?? true,
    monthlyCapNanoUsd: nanoOrNull(project.monthly_cap_usd),
    cacheEnabled: project.cache_enabled ?? true,
    cacheTtlSeconds:
      project.cache_ttl_seconds !== null && project.cache_ttl_seconds > 0 ? project.cache_ttl_seconds : null,
    semanticCacheEnabled: project.semantic_cache_enabled ?? false,
    semanticThreshold: project.semantic_threshold,
    createdAtMs: Math.trunc(project.created_ms),
  };
}

/** The key, and its bcrypt hash until its first use. */
export function convertKey(key: SourceKey) {
  const lookup = key.key_prefix.replace(DOTS, '');
  const standIn = hashSecret(`${key.id} ${crypto.randomUUID()}`);
  return {
    key: {
      id: key.id,
      projectId: key.project_id,
      name: key.name,
      hash: standIn,
      prefix: lookup,
      isActive: key.is_active ?? true,
      rateLimitPerMinute: key.rate_limit_per_minute,
      createdAtMs: Math.trunc(key.created_ms),
    },
    legacy: { apiKeyId: key.id, lookup, bcryptHash: key.key_hash, standIn },
  };
}

export function convertLimits(limits: SourceLimits): LimitColumns {
  const models = Object.entries(limits.model_limits ?? {}).flatMap(([model, requests]) =>
    typeof requests === 'number' ? [[model, { requests_per_day: requests }] as const] : [],
  );
  const behavior = limits.on_limit_behavior;
  return {
    dailySpendLimitNanoUsd: nanoOrNull(limits.daily_spend_limit_usd),
    monthlySpendLimitNanoUsd: nanoOrNull(limits.monthly_spend_limit_usd),
    perRequestMaxNanoUsd: nanoOrNull(limits.per_request_max_usd),
    requestsPerMinute: limits.requests_per_minute,
    requestsPerHour: limits.requests_per_hour,
    requestsPerDay: limits.requests_per_day,
    modelLimits: Object.fromEntries(models),
    onLimitBehavior: behavior === 'downgrade' || behavior === 'warn' ? behavior : 'block',
    downgradeModel: limits.downgrade_model,
  };
}

/** The source's two prices over the known ones; undefined without a price. */
export function convertPrice(price: SourcePrice, known: PricedModel | undefined): PricedModel | undefined {
  if (price.input === null || price.output === null) return undefined;
  return {
    mode: 'chat',
    capabilities: [],
    ...known,
    provider: providerOf(price.provider),
    model: price.model,
    prices: { ...known?.prices, input: Number(price.input), output: Number(price.output) },
    contextWindow: known?.contextWindow ?? price.context_window ?? undefined,
    source: 'llm0-gateway',
  };
}

/** Key of a price here. */
export const priceKey = ({ provider, model }: { readonly provider: string; readonly model: string }): string =>
  `${providerOf(provider)}/${model}`;

const STATUSES: Readonly<Record<string, readonly [LogStatus, number]>> = {
  success: ['success', 200],
  rate_limited: ['rate_limited', 429],
  cap_exceeded: ['cap_exceeded', 402],
};

/** The Go project logs the avoided cost of a cache hit; here it counts as saved, not spent. */
export function convertLog(log: SourceLog): LogRecord {
  const isSemantic = log.semantic_cache_hit === true;
  const isHit = isSemantic || log.cache_hit === true;
  const costNanoUsd = nanoFromUsd(log.cost_usd ?? '0');
  const [status, httpStatus] = STATUSES[log.status ?? 'success'] ?? ['error', 500];
  return {
    id: log.id,
    createdAtMs: Math.trunc(log.created_ms),
    projectId: log.project_id,
    apiKeyId: log.api_key_id ?? NO_KEY,
    dialect: 'openai-chat',
    model: log.model,
    requestedModel: log.model,
    provider: providerOf(log.provider),
    finalProvider: providerOf(log.final_provider || log.provider),
    tokensIn: log.tokens_in ?? 0,
    tokensOut: log.tokens_out ?? 0,
    tokensCacheRead: 0,
    tokensCacheWrite: 0,
    tokensReasoning: 0,
    costNanoUsd: isHit ? 0 : costNanoUsd,
    savedNanoUsd: isHit ? costNanoUsd : 0,
    costEstimated: false,
    latencyMs: log.latency_ms ?? 0,
    stream: false,
    cacheHit: isHit && !isSemantic,
    semanticCacheHit: isSemantic,
    failoverCount: log.failover_count ?? 0,
    status,
    httpStatus,
    ...(isSemantic && log.similarity_score !== null ? { similarityScore: log.similarity_score } : {}),
    ...(log.error_message === null ? {} : { errorMessage: log.error_message }),
    ...(log.customer_id === null || log.customer_id === '' ? {} : { customerId: log.customer_id }),
    ...(log.labels === null ? {} : { labels: lowerNames(log.labels) }),
  };
}

/** `Feature` there, `feature` here. */
function lowerNames(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name.toLowerCase(), String(value)]));
}
