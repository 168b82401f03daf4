import type { Budget, Uncounted } from '../budgets';
import type { DenialReason } from '../denial-reason';
import type { AdmitDecision, AdmitRequest, LimitState } from '../hot-store';
import { msToNextDay, msToNextMonth } from '../periods';
import { describeBucket } from '../token-bucket';

const limit = (text: unknown): number | null => (text === '' ? null : Number(text));

/** First element of a row of the script's reply. */
const CODE = { stale: 1, replan: 2, denied: 3, cached: 4, staleTables: 6, uncounted: 8 } as const;

/** Parses a row of the reply of `lua/admit.lua`. */
export function decodeAdmit(row: readonly unknown[], nowMs: number, request: AdmitRequest): AdmitDecision | Uncounted {
  const code = row[0];
  if (code === CODE.stale) return { type: 'stale', nowMs, what: 'principal' };
  if (code === CODE.staleTables) return { type: 'stale', nowMs, what: 'tables' };
  if (code === CODE.replan) return { type: 'replan', nowMs, downgradeModel: String(row[1]) };
  if (code === CODE.uncounted) return { type: 'uncounted', nowMs };
  const state = decodeState(row, request);
  if (code === CODE.denied) return { type: 'denied', nowMs, state, ...decodeDenial(row, nowMs, request) };
  const plan = row[3] === 0 ? 'requested' : 'downgrade';
  if (code === CODE.cached) {
    const entry = String(row[4]);
    const storedStart = entry.indexOf(' ') + 1;
    const valueStart = entry.indexOf(' ', storedStart) + 1;
    const storedAtMs = Number(entry.slice(storedStart, valueStart - 1));
    return { type: 'cached', nowMs, state, plan, value: entry.slice(valueStart), storedAtMs };
  }
  return {
    type: 'admitted',
    nowMs,
    state,
    plan,
    spendWarning: WARNINGS[Number(row[4])],
    hotTierIncomplete: row[5] === 1,
  };
}

const WARNINGS = [undefined, 'customer_daily_spend', 'customer_monthly_spend'] as const;

function decodeState(row: readonly unknown[], request: AdmitRequest): LimitState {
  const bucket = request.keyBucket;
  return {
    rate: bucket && describeBucket(Number(row[1]), bucket.ratePerMinute, bucket.burst),
    projectSpentNanoUsd: Number(row[2]),
    customer:
      request.customerId === undefined
        ? undefined
        : {
            spentTodayNanoUsd: Number(row[6]),
            spentMonthNanoUsd: Number(row[7]),
            dailyLimitNanoUsd: limit(row[8]),
            monthlyLimitNanoUsd: limit(row[9]),
          },
  };
}

type Denial = Pick<
  Extract<AdmitDecision, { type: 'denied' }>,
  'reason' | 'retryAfterMs' | 'budget' | 'spend' | 'level'
>;

function decodeDenial(row: readonly unknown[], nowMs: number, request: AdmitRequest): Denial {
  const { budgets, levelLimits } = request;
  const reason = row[3] as DenialReason;
  if (reason === 'budget') return { reason, ...budgetDenial(budgets?.list[Number(row[4]) - 1], String(row[5])) };
  if (reason === 'project_cap' || reason === 'key_budget') {
    const [spentNanoUsd = 0, heldNanoUsd = 0] = String(row[5]).split(' ').map(Number);
    const limitNanoUsd = (reason === 'project_cap' ? request.projectCapNanoUsd : request.keyBudgetNanoUsd) ?? 0;
    return { reason, spend: { limitNanoUsd, spentNanoUsd, heldNanoUsd } };
  }
  if (reason === 'customer_daily_spend') return { reason, retryAfterMs: msToNextDay(nowMs) };
  if (reason === 'customer_monthly_spend' || reason === 'customer_count')
    return { reason, retryAfterMs: msToNextMonth(nowMs) };
  const wait = Number(row[4]);
  const level = levelLimits?.list[Number(row[5]) - 1]?.level;
  return { reason, ...(wait < 0 ? {} : { retryAfterMs: wait }), ...(level && { level }) };
}

/** `sums`: spend, holds, and what other projects' shares still claim. */
function budgetDenial(budget: Budget | undefined, sums: string): Pick<Denial, 'budget'> {
  const [spentNanoUsd = 0, heldNanoUsd = 0, keptNanoUsd] = sums.split(' ').map(Number);
  if (budget === undefined) return {};
  if (keptNanoUsd === undefined) return { budget: { ...budget, spentNanoUsd, heldNanoUsd } };
  const limitNanoUsd = Math.max(0, budget.limitNanoUsd - keptNanoUsd);
  return { budget: { ...budget, limitNanoUsd, spentNanoUsd, heldNanoUsd, keptNanoUsd } };
}
