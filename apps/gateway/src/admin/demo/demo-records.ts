import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { computeCost } from '@llm0/core/pricing/compute-cost';
import type { PriceBook } from '@llm0/core/pricing/price-book';
import type { Target } from '@llm0/core/routing/target';
import mix from '../demo-mix.json';
import { attemptOf, failedAttempts, failOver, timedOut } from './demo-attempts';
import {
  DailyLimit,
  type DemoLimit,
  describeFailure,
  type Failure,
  NOTHING_COUNTED,
  OUTAGE,
  pickFailure,
} from './demo-failures';
import { type DemoStory, isDuring, type Span, tellStory } from './demo-story';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Project of generated requests. */
export interface DemoProject {
  readonly id: string;
  readonly weight: number;
  readonly team: string;
  readonly models: readonly string[];
  readonly keyIds: readonly string[];
}

export interface DemoOptions {
  readonly projects: readonly DemoProject[];
  readonly prices: Pick<PriceBook, 'find'>;
  readonly nowMs: number;
  readonly days: number;
  readonly requestsADay: number;
  /** Time-out of an attempt. */
  readonly timeoutMs: number;
  /** The customer that alone is refused. */
  readonly limit: DemoLimit | undefined;
  /** Targets in the order of the chain, the wanted one first. */
  readonly targetsOf: (wanted: Target) => readonly Target[];
  readonly createId: () => string;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
}

/** Project of the runaway job. */
const SPIKE_PROJECT = 1;
const EXACT_SHARE = 0.16;
const SEMANTIC_SHARE = 0.04;
const FAILOVER_SHARE = 0.015;

type DemoModel = (typeof mix.models)[keyof typeof mix.models];

/** A believable stretch of traffic, oldest first: quiet nights and weekends, growth by a third, and a story in it. */
export function* makeDemoRecords(options: DemoOptions): Generator<LogRecord> {
  const { nowMs, days, requestsADay, random } = options;
  const startMs = nowMs - days * DAY_MS;
  const story = tellStory(options);
  const limit = new DailyLimit(options.limit);
  for (let hourMs = startMs; hourMs < nowMs; hourMs += HOUR_MS) {
    const growth = 0.75 + 0.33 * ((hourMs - startMs) / (days * DAY_MS));
    const wanted = (requestsADay / 24) * shapeOf(hourMs) * growth * (0.85 + 0.3 * random());
    const more = (cause: Cause, factor: number, span: Span) =>
      timesIn(hourMs, (requestsADay / 24) * factor, random)
        .filter((atMs) => isDuring(span, atMs))
        .map((atMs) => ({ atMs, cause }));
    const all = [
      ...timesIn(hourMs, wanted, random).map((atMs) => ({ atMs, cause: 'usual' as const })),
      ...more('job', story.spike.factor, story.spike),
      ...more('retry', story.outage.retries, { ...story.outage, toMs: story.outage.openedMs }),
    ].sort((a, b) => a.atMs - b.atMs);
    for (const { atMs, cause } of all) if (atMs < nowMs) yield limit.apply(makeRecord(options, { atMs, cause, story }));
  }
}

/** Origin of a request: usual traffic, a runaway job, or retries during an outage. */
type Cause = 'usual' | 'job' | 'retry';

const timesIn = (hourMs: number, count: number, random: () => number) =>
  Array.from({ length: Math.round(count) }, () => Math.floor(hourMs + random() * HOUR_MS));

interface Moment {
  readonly atMs: number;
  readonly cause: Cause;
  readonly story: DemoStory;
}

/** More by day than by night, less at weekends (UTC). */
function shapeOf(ms: number): number {
  const date = new Date(ms);
  const isWeekend = date.getUTCDay() % 6 === 0;
  const daylight = 0.35 + 1.3 * Math.max(0, Math.sin(((date.getUTCHours() - 5) / 24) * 2 * Math.PI) + 0.25);
  return daylight * (isWeekend ? 0.45 : 1);
}

function makeRecord(options: DemoOptions, { atMs, cause, story }: Moment): LogRecord {
  const { random } = options;
  const planned = pickFailure(random);
  const isHit = planned === undefined && cause === 'usual' && random() < EXACT_SHARE + SEMANTIC_SHARE;
  const request = makeRequest(options, { atMs, cause, story }, isHit);
  const isOut = !isHit && request.provider === story.outage.provider && isDuring(story.outage, atMs);
  // Until the breaker opens, requests wait in vain; then others answer, with rare exceptions.
  const isUnanswered = isOut && random() < (atMs < story.outage.openedMs ? 0.8 : 0.06);
  const failure = isUnanswered ? OUTAGE : planned;
  const overheadMs = 0.6 + 1.8 * random() ** 3;
  if (failure !== undefined) return failedRecord(options, request, { failure, isUnanswered, overheadMs });
  const usage = makeUsage(random);
  const answered = { ...request, ...countTokens(usage), status: 'success' as const, httpStatus: 200 };
  if (isHit) {
    const ms = 0.8 + 2.2 * random() ** 2;
    const timing = { latencyMs: ms, overheadMs: ms, ttftMs: ms };
    return {
      ...answered,
      ...timing,
      savedNanoUsd: costAt(options, request, usage).costNanoUsd,
      finalProvider: request.provider,
    };
  }
  const { ttft_ms, tokens_per_second } = modelOf(request.model);
  const firstMs = ttft_ms * (isOut ? 1.6 : 1) * (0.7 + 0.4 * random() + 0.8 * random() ** 6);
  const answerMs = firstMs + (answered.tokensOut / tokens_per_second) * 1000 * (0.8 + 0.4 * random());
  // As in the log: an attempt lasts to its first output, and a plain answer comes whole.
  const attemptMs = request.stream ? firstMs : answerMs;
  const effort =
    isOut || random() < FAILOVER_SHARE
      ? failOver(request, {
          attemptMs,
          isOpen: isOut && atMs >= story.outage.openedMs,
          to: options.targetsOf(request)[1],
        })
      : attemptOf(request, attemptMs);
  const upstreamMs = effort.lostMs + answerMs;
  // The one that answered is paid, after a failover another one than the caller asked for.
  const { finalProvider: provider = request.provider, model = request.model } = effort.fields;
  const cost = costAt(options, { provider, model }, usage);
  return {
    ...answered,
    ...effort.fields,
    costNanoUsd: cost.costNanoUsd,
    costDetail: { ...cost.detail, price_source: 'seed' },
    latencyMs: upstreamMs + overheadMs,
    overheadMs,
    upstreamMs,
    ttftMs: effort.lostMs + firstMs + overheadMs,
  };
}

interface Ending {
  readonly failure: Failure;
  /** The provider is away. */
  readonly isUnanswered: boolean;
  readonly overheadMs: number;
}

function failedRecord(
  { random, timeoutMs }: DemoOptions,
  request: ReturnType<typeof makeRequest>,
  { failure, isUnanswered, overheadMs }: Ending,
): LogRecord {
  const ending = describeFailure(failure, { ...request, timeoutMs });
  const isSlow = failure.status === 'error' && failure.httpStatus > 500;
  if (!isUnanswered && !isSlow) {
    // Limits refuse before a provider is asked; all of the time is the gateway's own.
    const isLimited = failure.httpStatus === 429;
    return {
      ...{ ...request, ...ending, overheadMs },
      ...(isLimited ? { provider: undefined, latencyMs: overheadMs } : { latencyMs: 1 + 3 * random() }),
    };
  }
  if (failure.httpStatus === 504) return { ...request, ...ending, ...timedOut(request, timeoutMs), overheadMs };
  const latencyMs = isUnanswered ? 900 + 2_000 * random() : 2000 + 6000 * random();
  const attempts = failedAttempts(request, latencyMs);
  return { ...request, ...ending, attempts, latencyMs, overheadMs };
}

const modelOf = (name: string): DemoModel => mix.models[name as keyof typeof mix.models];

function costAt({ prices }: DemoOptions, { provider, model }: Target, usage: Usage) {
  const priced = prices.find(provider, model);
  return priced === undefined ? { costNanoUsd: 0, detail: {} } : computeCost(usage, priced);
}

/** State of a request before its answer. */
function makeRequest({ random, projects, createId }: DemoOptions, { atMs, cause, story }: Moment, isHit: boolean) {
  const isSpike = cause === 'job';
  const project = (isSpike ? projects[SPIKE_PROJECT] : undefined) ?? pickWeighted(projects, random);
  const wanted = project.models.filter(
    (model) => cause !== 'retry' || modelOf(model).provider === story.outage.provider,
  );
  const name = (isSpike ? project.models[0] : undefined) ?? pick(wanted.length === 0 ? project.models : wanted, random);
  const isSemantic = isHit && random() < SEMANTIC_SHARE / (EXACT_SHARE + SEMANTIC_SHARE);
  return {
    ...NOTHING_COUNTED,
    id: createId(),
    createdAtMs: atMs,
    projectId: project.id,
    apiKeyId: (isSpike ? project.keyIds.at(-1) : undefined) ?? pick(project.keyIds, random),
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
    labels: { team: project.team, env: pick(mix.environments, random) },
  };
}

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
