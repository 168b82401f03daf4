import { type ErrorKind, GatewayError, type GatewayErrorOptions } from '@llm0/core/errors/gateway-error';
import { type BudgetOwner, type BudgetSpan, SPANS, type Spend } from '@llm0/core/limits/budgets';
import type { DenialReason } from '@llm0/core/limits/denial-reason';
import type { AdmitDecision, LimitState } from '@llm0/core/limits/hot-store';
import { formatUsdText } from '@llm0/core/pricing/format-usd';

/** A refusal by the limits; carries the state that the answer's headers show. */
export class AdmissionDenied extends GatewayError {
  constructor(kind: ErrorKind, message: string, options: DenialOptions) {
    super(kind, message, options);
    this.state = options.state;
    this.nowMs = options.nowMs;
    this.waitMs = options.waitMs;
  }
  readonly state: LimitState;
  readonly nowMs: number;
  readonly waitMs: DenialOptions['waitMs'];
}

interface DenialOptions extends GatewayErrorOptions {
  readonly state: LimitState;
  readonly nowMs: number;
  /** Milliseconds until it ends; `unknown`: once another request has ended. Absent where time doesn't help. */
  readonly waitMs?: number | 'unknown' | undefined;
}

interface DenialRow {
  readonly kind: ErrorKind;
  readonly param?: string;
  readonly message: string;
}

/** Errors of refusals (contract: errors). */
const DENIALS = {
  key_rate: {
    kind: 'rate_limit_exceeded',
    param: 'key',
    message: 'This API key exceeded its request rate.',
  },
  customer_rate: {
    kind: 'rate_limit_exceeded',
    param: 'customer',
    message: 'This customer exceeded its request rate.',
  },
  customer_model_rate: {
    kind: 'rate_limit_exceeded',
    param: 'customer',
    message: 'This customer used up its requests to this model for today.',
  },
  customer_count: {
    kind: 'rate_limit_exceeded',
    param: 'customer',
    message:
      'This project reached its number of customers for this month (max_customers). Known customers, and customers with limits, still pass.',
  },
  level_rate: {
    kind: 'rate_limit_exceeded',
    message: 'This {level} exceeded its request rate.',
  },
  level_tokens_rate: {
    kind: 'rate_limit_exceeded',
    message: 'This {level} used up its tokens for this minute.',
  },
  level_tokens_over_limit: {
    kind: 'request_over_limit',
    message:
      'This request alone needs more tokens than the {level} may use in a minute. Shorten it or lower max_tokens.',
  },
  tokens_rate: {
    kind: 'rate_limit_exceeded',
    param: 'tokens',
    message: 'This API key used up its tokens for this minute.',
  },
  concurrency: {
    kind: 'rate_limit_exceeded',
    param: 'concurrency',
    message: 'This API key has too many concurrent requests. Wait until one ends.',
  },
  tokens_over_limit: {
    kind: 'request_over_limit',
    param: 'tokens',
    message: 'This request alone needs more tokens than tokens_per_minute allows. Shorten it or lower max_tokens.',
  },
  per_request_max: {
    kind: 'request_over_limit',
    param: 'max_tokens',
    message: 'This request alone may cost more than per_request_max_usd allows. Shorten it or lower max_tokens.',
  },
  project_cap: {
    kind: 'spend_cap_exceeded',
    message: "The project's monthly spend cap doesn't cover this request{spend}. The operator can raise it.",
  },
  key_budget: {
    kind: 'key_budget_exceeded',
    message: "The budget of this API key doesn't cover this request{spend}. The operator can raise it.",
  },
  customer_daily_spend: {
    kind: 'customer_spend_limit',
    param: 'customer',
    message: 'This customer reached its spend limit for today{limit}',
  },
  customer_monthly_spend: {
    kind: 'customer_spend_limit',
    param: 'customer',
    message: 'This customer reached its spend limit for this month{limit}',
  },
  queue_full: { kind: 'overloaded', message: "The gateway can't take more requests right now. Retry shortly." },
} as const satisfies Record<Exclude<DenialReason, 'budget'>, DenialRow>;

/** Refusals by budgets of a day, week or month. */
const BUDGETS: { readonly [S in BudgetOwner['scope']]: { readonly kind: ErrorKind; readonly of: string } } = {
  organization: { kind: 'team_budget_exceeded', of: 'of this organization' },
  team: { kind: 'team_budget_exceeded', of: 'of this team' },
  share: { kind: 'team_budget_exceeded', of: 'that the team keeps for this project' },
  user: { kind: 'user_budget_exceeded', of: 'of this user' },
  project: { kind: 'spend_cap_exceeded', of: 'of this project' },
  key: { kind: 'key_budget_exceeded', of: 'of this API key' },
  label: { kind: 'label_budget_exceeded', of: 'of the label' },
  run: { kind: 'run_budget_exceeded', of: 'of' },
};
const RESETS: Readonly<Record<Exclude<BudgetSpan, 'run'>, string>> = {
  day: 'at 00:00 UTC',
  week: 'on Monday at 00:00 UTC',
  month: 'on the first of the month at 00:00 UTC',
};

/** Open requests may use less than they reserve. */
function describeSpend({ limitNanoUsd, spentNanoUsd, heldNanoUsd }: Spend): string {
  const spent = `${formatUsdText(spentNanoUsd)} of ${formatUsdText(limitNanoUsd)} is spent`;
  return heldNanoUsd === 0 ? spent : `${spent}, and open requests reserve ${formatUsdText(heldNanoUsd)}`;
}

/** What the customer has spent, and when its limit resets: the end of the sentence. */
function describeCustomerLimit({ reason, state: { customer } }: Denied): string {
  if (customer === undefined) return '.';
  const isDaily = reason === 'customer_daily_spend';
  const limitNanoUsd = isDaily ? customer.dailyLimitNanoUsd : customer.monthlyLimitNanoUsd;
  if (limitNanoUsd === null) return '.';
  const spentNanoUsd = isDaily ? customer.spentTodayNanoUsd : customer.spentMonthNanoUsd;
  const spent = `${formatUsdText(spentNanoUsd)} of ${formatUsdText(limitNanoUsd)} is spent`;
  return `: ${spent}. It resets ${RESETS[isDaily ? 'day' : 'month']}. The operator can raise it.`;
}

const MIN_RETRY_AFTER_MS = 1000;

type Denied = Extract<AdmitDecision, { type: 'denied' }>;

/** The refusal as an error. */
export function denial(decision: Denied): AdmissionDenied {
  if (decision.reason === 'budget') return budgetDenial(decision);
  const row: DenialRow = DENIALS[decision.reason];
  const waits = row.kind === 'rate_limit_exceeded' || row.kind === 'customer_spend_limit' || row.kind === 'overloaded';
  const retryAfterMs = waits ? (decision.retryAfterMs ?? MIN_RETRY_AFTER_MS) : undefined;
  // Agents and scripts see no headers.
  const hint = row.kind === 'rate_limit_exceeded' && decision.retryAfterMs !== undefined;
  const { level, spend } = decision;
  const told = row.message
    .replace('{level}', level ?? '')
    .replace('{spend}', spend === undefined ? '' : `: ${describeSpend(spend)}`)
    .replace('{limit}', describeCustomerLimit(decision));
  const message = hint ? `${told} Try again in ${Math.ceil(decision.retryAfterMs / 1000)} s.` : told;
  return new AdmissionDenied(row.kind, message, {
    param: level ?? row.param,
    ...(spend !== undefined && { budget: spend }),
    retryAfterMs,
    state: decision.state,
    nowMs: decision.nowMs,
    waitMs: decision.reason === 'concurrency' ? 'unknown' : decision.retryAfterMs,
  });
}

function budgetDenial({ budget, state, nowMs }: Denied): AdmissionDenied {
  if (budget === undefined) throw new Error('the store names no budget');
  const { owner, span } = budget;
  const { kind, of } = BUDGETS[owner.scope];
  const name =
    owner.scope === 'label' ? ` ${owner.label}=${owner.value}` : owner.scope === 'run' ? ` "${owner.runId}"` : '';
  const kept =
    budget.keptNanoUsd === undefined
      ? ''
      : `, and ${formatUsdText(budget.keptNanoUsd)} more is kept for other projects`;
  const spent = `${describeSpend(budget)}${kept}`;
  const message =
    `The ${SPANS[span].word} budget ${of}${name} doesn't cover this request: ${spent}. ` +
    (span === 'run'
      ? 'The run is paused: an operator can raise its budget.'
      : `It resets ${RESETS[span]}. The operator can raise it.`);
  return new AdmissionDenied(kind, message, { budget, state, nowMs });
}
