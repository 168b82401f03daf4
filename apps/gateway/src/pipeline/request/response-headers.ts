import { completionTokens, promptTokens } from '@llm0/core/chat/usage';
import type { LimitState } from '@llm0/core/limits/hot-store';
import { explainRoute } from '@llm0/core/logs/explain-route';
import type { LogAttempt, RouteReason } from '@llm0/core/logs/log-record';
import { formatUsd } from '@llm0/core/pricing/format-usd';
import { firstChoice, type Route } from '@llm0/core/routing/resolve-targets';
import { hadChoice, type Target, targetKey } from '@llm0/core/routing/target';
import type { CacheOutcome, ResponseSummary } from '../../dialects/dialect';
import type { Admission } from './admit';
import type { RequestContext } from './open-context';

export type HeaderTable = Record<string, string>;

/** Provider and model for the headers. */
interface Answered {
  readonly target: Target;
  readonly cache: CacheOutcome;
  readonly similarity?: number;
  readonly dropped: readonly string[];
  readonly failoverCount: number;
  readonly attempts?: readonly LogAttempt[];
}

type Admitted = Pick<
  Admission<{ readonly route: Pick<Route, 'targets' | 'passedOver' | 'unfit' | 'isWarm' | 'strategy'> }, unknown>,
  'plan'
> &
  Omit<Admission, 'plan' | 'stored'>;

/** Headers known at the first output of an answer; streams carry just these. */
export function responseHeaders(
  ctx: RequestContext,
  admission: Admitted,
  answer: Answered,
  overheadMs: number,
): HeaderTable {
  const headers: HeaderTable = {
    'X-Request-Id': ctx.requestId,
    'X-Provider': answer.target.provider,
    // The caller chooses the name of a model without a price.
    'X-Model': headerText(answer.target.model),
    'X-Cache-Hit': answer.cache,
    'X-Overhead-Ms': overheadMs.toFixed(2),
  };
  addDecisionHeaders(headers, admission);
  if (answer.similarity !== undefined) headers['X-Cache-Similarity'] = answer.similarity.toFixed(4);
  if (answer.dropped.length > 0) headers['X-LLM0-Dropped'] = droppedNames(answer.dropped);
  const { route } = admission.plan;
  if (answer.attempts !== undefined && hadChoice(route, answer.attempts)) {
    const reasons = explainRoute(route, answer.attempts);
    if (reasons !== undefined) headers['X-LLM0-Route'] = routeText(reasons);
  }
  if (answer.failoverCount > 0) {
    headers['X-Failover'] = 'true';
    headers['X-Original-Provider'] = firstChoice(route).provider;
  }
  if (admission.queuedMs !== undefined) headers['X-Queued-Ms'] = admission.queuedMs.toFixed(2);
  if (admission.downgraded) headers['X-Downgraded-From'] = headerText(admission.requestedModel);
  return headers;
}

/** A positive decision: state of the limits, and warnings. */
export function addDecisionHeaders(headers: HeaderTable, { decision, principal }: Omit<Admitted, 'plan'>): void {
  if (decision.type === 'admitted' || decision.type === 'cached') {
    addLimitHeaders(headers, decision.state, principal.project.monthlyCapNanoUsd);
  } else if (decision.type === 'unchecked') headers['X-Warning'] = 'store_unavailable';
  else if (decision.type === 'replayed') headers['X-Idempotent-Replay'] = 'true';
  if (decision.type === 'admitted' && decision.spendWarning !== undefined) {
    headers['X-Warning'] = decision.spendWarning;
  } else if (decision.type === 'admitted' || decision.type === 'cached') {
    const { customer } = decision.state;
    const warning = customer === undefined ? undefined : approachWarning(customer);
    if (warning !== undefined) headers['X-Warning'] = warning;
  }
}

/** Share of a limit from which customers get a warning. */
const NEAR = 0.8;

/** Warnings in llm0-gateway's words, which its clients read; the monthly limit first. */
function approachWarning(customer: NonNullable<LimitState['customer']>): string | undefined {
  const { spentTodayNanoUsd, dailyLimitNanoUsd, spentMonthNanoUsd, monthlyLimitNanoUsd } = customer;
  const tell = (period: string, spent: number, limit: number | null) =>
    limit === null || limit <= 0 || spent < limit * NEAR
      ? undefined
      : `Customer approaching ${period} spend limit (${Math.round((spent / limit) * 100)}%)`;
  return tell('monthly', spentMonthNanoUsd, monthlyLimitNanoUsd) ?? tell('daily', spentTodayNanoUsd, dailyLimitNanoUsd);
}

/** Values known only at the end: cost and tokens. */
export function addCostHeaders(headers: HeaderTable, summary: Pick<ResponseSummary, 'usage' | 'costNanoUsd'>): void {
  const prompt = promptTokens(summary.usage);
  const completion = completionTokens(summary.usage);
  headers['X-Cost-Usd'] = formatUsd(summary.costNanoUsd);
  headers['X-Tokens-Prompt'] = String(prompt);
  headers['X-Tokens-Completion'] = String(completion);
  headers['X-Tokens-Total'] = String(prompt + completion);
}

/** Limit headers of answers and denials. */
export function addLimitHeaders(headers: HeaderTable, state: LimitState, projectCapNanoUsd: number | null): void {
  if (state.rate !== undefined) {
    headers['X-RateLimit-Limit'] = String(state.rate.limit);
    headers['X-RateLimit-Remaining'] = String(state.rate.remaining);
    headers['X-RateLimit-Reset'] = String(Math.ceil(state.rate.resetMs / 1000));
  }
  headers['X-Spend-Usd'] = formatUsd(state.projectSpentNanoUsd);
  if (projectCapNanoUsd !== null) headers['X-Spend-Cap-Usd'] = formatUsd(projectCapNanoUsd);
  if (state.customer !== undefined) {
    const { spentTodayNanoUsd, dailyLimitNanoUsd } = state.customer;
    headers['X-Customer-Spend-Today'] = formatUsd(spentTodayNanoUsd);
    if (dailyLimitNanoUsd !== null) {
      headers['X-Customer-Limit-Daily'] = formatUsd(dailyLimitNanoUsd);
      headers['X-Customer-Remaining-Usd'] = formatUsd(Math.max(0, dailyLimitNanoUsd - spentTodayNanoUsd));
    }
  }
}

/** `target=reason; …`, in the order of the choices. */
function routeText(reasons: readonly RouteReason[]): string {
  let text = '';
  for (const [index, one] of reasons.entries()) {
    const target = headerText(targetKey(one)).replaceAll(/[;=]/g, encodeURIComponent);
    if (text.length + target.length >= MAX_LIST) return `${text}; +${reasons.length - index} more`;
    text += `${index === 0 ? '' : '; '}${target}=${one.reason}`;
  }
  return text;
}

const MAX_TEXT = 256;
/** Proxies refuse answers with more than a few KiB of headers. */
const MAX_LIST = 1024;
const MAX_NAME = 128;

/** Header values are visible ASCII; anything else a caller sent is percent-encoded. */
export function headerText(text: string): string {
  return text.length <= MAX_TEXT && !INVISIBLE.test(text) ? text : encodeInvisible(text).slice(0, MAX_TEXT);
}

const INVISIBLE = /[^\x20-\x7e]/;

function encodeInvisible(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x7e]/gu, (character) => encodeURIComponent(character));
}

/** Names are the caller's own, and as many as the caller likes: `a,b,+5 more`. */
export function droppedNames(names: readonly string[]): string {
  let text = '';
  for (const [index, name] of names.entries()) {
    const shown = encodeInvisible(name.slice(0, MAX_NAME)).replaceAll(',', '%2C').slice(0, MAX_NAME);
    if (text.length + shown.length >= MAX_LIST) return `${text},+${names.length - index} more`;
    text += index === 0 ? shown : `,${shown}`;
  }
  return text;
}
