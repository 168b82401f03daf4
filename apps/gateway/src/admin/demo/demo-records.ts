import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { LogAttempt, LogRecord } from '@llm0/core/logs/log-record';
import { computeCost } from '@llm0/core/pricing/compute-cost';
import type { PriceBook } from '@llm0/core/pricing/price-book';
import mix from '../demo-mix.json';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Where made-up requests are booked. */
export interface DemoProject {
  readonly id: string;
  readonly weight: number;
  readonly models: readonly string[];
  readonly keyIds: readonly string[];
}

export interface DemoOptions {
  readonly projects: readonly DemoProject[];
  readonly prices: PriceBook;
  readonly nowMs: number;
  readonly days: number;
  readonly requestsADay: number;
  readonly createId: () => string;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
}

/** Outcomes other than success, with how often they come. */
const FAILURES = [
  { share: 0.012, status: 'error', httpStatus: 502, errorCode: 'upstream_error', errorMessage: 'The provider failed.' },
  { share: 0.008, status: 'error', httpStatus: 504, errorCode: 'upstream_timeout', errorMessage: 'No answer in time.' },
  {
    share: 0.006,
    status: 'error',
    httpStatus: 400,
    errorCode: 'invalid_request',
    errorMessage: 'messages: is required.',
  },
  {
    share: 0.018,
    status: 'rate_limited',
    httpStatus: 429,
    errorCode: 'rate_limit_exceeded',
    errorMessage: 'Too many.',
  },
  {
    share: 0.004,
    status: 'cap_exceeded',
    httpStatus: 429,
    errorCode: 'customer_spend_limit',
    errorMessage: 'Cap met.',
  },
  { share: 0.01, status: 'aborted', httpStatus: 499, errorCode: 'client_closed', errorMessage: 'The caller left.' },
] as const;
const EXACT_SHARE = 0.16;
const SEMANTIC_SHARE = 0.04;
const FAILOVER_SHARE = 0.015;

type DemoModel = (typeof mix.models)[keyof typeof mix.models];

/** A believable stretch of traffic, oldest first: quiet nights and weekends, one bad hour, growth by a third. */
export function* makeDemoRecords(options: DemoOptions): Generator<LogRecord> {
  const { nowMs, days, requestsADay, random } = options;
  const startMs = nowMs - days * DAY_MS;
  const badHourMs = startMs + Math.floor(days * 0.7) * DAY_MS + 14 * HOUR_MS;
  for (let hourMs = startMs; hourMs < nowMs; hourMs += HOUR_MS) {
    const growth = 0.75 + 0.33 * ((hourMs - startMs) / (days * DAY_MS));
    const wanted = (requestsADay / 24) * shapeOf(hourMs) * growth * (0.85 + 0.3 * random());
    const times = Array.from({ length: Math.round(wanted) }, () => hourMs + random() * HOUR_MS).sort((a, b) => a - b);
    for (const atMs of times) {
      if (atMs < nowMs)
        yield makeRecord(options, Math.floor(atMs), hourMs <= badHourMs && badHourMs < hourMs + HOUR_MS);
    }
  }
}

/** More by day than by night, less at weekends (UTC). */
function shapeOf(ms: number): number {
  const date = new Date(ms);
  const isWeekend = date.getUTCDay() % 6 === 0;
  const daylight = 0.35 + 1.3 * Math.max(0, Math.sin(((date.getUTCHours() - 5) / 24) * 2 * Math.PI) + 0.25);
  return daylight * (isWeekend ? 0.45 : 1);
}

function makeRecord(options: DemoOptions, createdAtMs: number, isBadHour: boolean): LogRecord {
  const { random } = options;
  const failure = pickFailure(random, isBadHour ? 8 : 1);
  const isHit = failure === undefined && random() < EXACT_SHARE + SEMANTIC_SHARE;
  const request = makeRequest(options, createdAtMs, isHit);
  const overheadMs = 0.6 + 1.8 * random() ** 3;
  if (failure !== undefined) {
    const { share: _, ...ending } = failure;
    const isSlow = failure.status === 'error' && failure.httpStatus > 500;
    return { ...request, ...ending, latencyMs: isSlow ? 2000 + 6000 * random() : 1 + 3 * random(), overheadMs };
  }
  const usage = makeUsage(random);
  const priced = options.prices.find(request.provider, request.model);
  const cost = priced === undefined ? { costNanoUsd: 0, detail: {} } : computeCost(usage, priced);
  const answered = { ...request, ...countTokens(usage), status: 'success' as const, httpStatus: 200 };
  if (isHit) {
    const ms = 0.8 + 2.2 * random() ** 2;
    const timing = { latencyMs: ms, overheadMs: ms, ttftMs: ms };
    return { ...answered, ...timing, savedNanoUsd: cost.costNanoUsd, finalProvider: request.provider };
  }
  const { ttft_ms, tokens_per_second } = modelOf(request.model);
  const ttftMs = ttft_ms * (isBadHour ? 2.5 : 1) * (0.7 + 0.4 * random() + 0.8 * random() ** 6);
  const upstreamMs = ttftMs + (answered.tokensOut / tokens_per_second) * 1000 * (0.8 + 0.4 * random());
  return {
    ...answered,
    ...(random() < FAILOVER_SHARE ? failOver(request, upstreamMs) : attemptOf(request, upstreamMs)),
    costNanoUsd: cost.costNanoUsd,
    costDetail: { ...cost.detail, price_source: 'seed' },
    latencyMs: upstreamMs + overheadMs,
    overheadMs,
    upstreamMs,
    ttftMs: ttftMs + overheadMs,
  };
}

const modelOf = (name: string): DemoModel => mix.models[name as keyof typeof mix.models];

/** What is known of a request before it is answered. */
function makeRequest({ random, projects, createId }: DemoOptions, createdAtMs: number, isHit: boolean) {
  const project = pickWeighted(projects, random);
  const name = pick(project.models, random);
  const isSemantic = isHit && random() < SEMANTIC_SHARE / (EXACT_SHARE + SEMANTIC_SHARE);
  return {
    ...NOTHING_COUNTED,
    id: createId(),
    createdAtMs,
    projectId: project.id,
    apiKeyId: pick(project.keyIds, random),
    dialect: 'openai-chat' as const,
    model: name,
    requestedModel: name,
    provider: modelOf(name).provider,
    stream: random() < 0.7,
    cacheHit: isHit && !isSemantic,
    semanticCacheHit: isSemantic,
    ...(isSemantic ? { similarityScore: 0.93 + 0.06 * random() } : {}),
    // A few customers make most of the traffic.
    customerId: mix.customers[Math.floor(random() ** 2.2 * mix.customers.length)],
    labels: { team: pick(mix.teams, random), env: pick(mix.environments, random) },
  };
}

const NOTHING_COUNTED = {
  tokensIn: 0,
  tokensOut: 0,
  tokensCacheRead: 0,
  tokensCacheWrite: 0,
  tokensReasoning: 0,
  costNanoUsd: 0,
  savedNanoUsd: 0,
  costEstimated: false,
  failoverCount: 0,
};

function makeUsage(random: () => number): Usage {
  const prompt = Math.round(900 + 7000 * random() ** 3);
  const cacheReadTokens = random() < 0.3 ? Math.round(prompt * 0.6) : 0;
  return {
    ...ZERO_USAGE,
    inputTokens: prompt - cacheReadTokens,
    cacheReadTokens,
    outputTokens: Math.round(80 + 900 * random() ** 2),
  };
}

const countTokens = (usage: Usage) => ({
  tokensIn: usage.inputTokens + usage.cacheReadTokens,
  tokensOut: usage.outputTokens,
  tokensCacheRead: usage.cacheReadTokens,
});

type Attempted = Pick<LogRecord, 'model' | 'provider'>;

function attemptOf({ model, provider = '' }: Attempted, latencyMs: number) {
  const attempts: LogAttempt[] = [{ provider, model, outcome: 'ok', startMs: 1, latencyMs }];
  return { attempts, finalProvider: provider };
}

/** The first target was overloaded, the one beside it answered. */
function failOver({ model, provider = '' }: Attempted, latencyMs: number) {
  const others = Object.entries(mix.models).filter(([, other]) => other.provider !== provider);
  const [name, other] = others[0] ?? [model, { provider }];
  const attempts: LogAttempt[] = [
    { provider, model, outcome: 'rate_limited', status: 429, startMs: 1, latencyMs: 80 },
    { provider: other.provider, model: name, outcome: 'ok', startMs: 82, latencyMs },
  ];
  return { attempts, model: name, finalProvider: other.provider, failoverCount: 1 };
}

function pickFailure(random: () => number, factor: number) {
  let at = random();
  for (const failure of FAILURES) {
    at -= failure.share * (failure.httpStatus > 500 ? factor : 1);
    if (at < 0) return failure;
  }
  return undefined;
}

function pick<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
}

function pickWeighted(projects: readonly DemoProject[], random: () => number): DemoProject {
  let at = random() * projects.reduce((sum, project) => sum + project.weight, 0);
  for (const project of projects) {
    at -= project.weight;
    if (at < 0) return project;
  }
  return pick(projects, random);
}
