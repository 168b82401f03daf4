import type { Uncounted } from '../budgets';
import { countersOf, type Hold } from '../hold';
import type { AdmitDecision, AdmitPlan, AdmitRequest, LimitState } from '../hot-store';
import { DAY_MS, dayIndex, monthIndex, msToNextDay, msToNextMonth } from '../periods';
import { describeBucket, msUntilLevel, refillBucket, TOKEN_UNITS } from '../token-bucket';
import type { AdmitEffect } from './apply';
import { checkBudgets, usedBudgets } from './budgets';
import { type CustomerCheck, checkCustomer, type Denial, denyCustomer } from './customer-requests';
import { checkVersions } from './known-versions';
import { checkLevelRequests, checkLevelTokens, takeLevels } from './levels';
import { countRequest, msToWindowEnd, readWindow, type WindowCount } from './request-window';
import type { EmbeddedState, KeyState } from './state';
import { isOver, readSum, spendOf } from './state';
import { stepClocksBack } from './step-clocks-back';

export interface AdmitOutcome {
  readonly decision: AdmitDecision | Uncounted;
  readonly effect?: AdmitEffect;
  /** Versions to raise first. */
  readonly raiseVersions?: boolean;
}

export interface CacheLookup {
  find(cacheKey: string, nowMs: number): { readonly value: string; readonly storedAtMs: number } | undefined;
  isIncomplete(projectId: string, cacheKey: string, nowMs: number): boolean;
  readonly queueFull: boolean;
}

const ANSWERED = { value: '', storedAtMs: 0 };

type SpendWarning = 'customer_daily_spend' | 'customer_monthly_spend';

interface PlanChoice {
  readonly plan: 'requested' | 'downgrade';
  readonly chosen: AdmitPlan;
  readonly warning?: SpendWarning;
  readonly blocked?: SpendWarning;
}

/** Decides as `lua/admit.lua` does, in the same order; changes nothing but clocks that stepped back. */
export function decideAdmit(
  state: EmbeddedState,
  request: AdmitRequest,
  nowMs: number,
  lookup: CacheLookup,
): AdmitOutcome {
  const versions = checkVersions(state, request);
  if (versions === 'stale') return { decision: { type: 'stale', nowMs, what: 'principal' } };
  return { ...new Decision({ state, request, nowMs, lookup }).decide(), raiseVersions: versions === 'raise' };
}

class Decision {
  private readonly request: AdmitRequest;
  private readonly nowMs: number;
  private readonly lookup: CacheLookup;
  private readonly state: EmbeddedState;
  private readonly key: KeyState | undefined;
  private readonly month: number;
  private readonly keyLevel: number | undefined;
  private readonly customer: CustomerCheck | undefined;

  constructor(input: { state: EmbeddedState; request: AdmitRequest; nowMs: number; lookup: CacheLookup }) {
    const { state, request, nowMs, lookup } = input;
    this.request = request;
    this.nowMs = nowMs;
    this.lookup = lookup;
    this.state = state;
    this.key = state.keys.get(request.keyId);
    this.month = monthIndex(nowMs);
    const bucket = request.keyBucket;
    this.keyLevel = bucket && refillBucket(this.key?.bucket, nowMs, bucket.ratePerMinute, bucket.burst);
    this.customer = checkCustomer(state, request, nowMs);
  }

  decide(): AdmitOutcome {
    const denial = this.checkRequestBuckets();
    if (denial !== undefined) return this.deny(denial);
    const choice = this.choosePlan();
    if ('downgradeModel' in choice) {
      return { decision: { type: 'replan', nowMs: this.nowMs, downgradeModel: choice.downgradeModel } };
    }
    const { plan, chosen } = choice;
    const modelWindow = this.modelWindow(chosen.model);
    if (modelWindow !== undefined && modelWindow.count >= modelWindow.limit) {
      return this.deny({ reason: 'customer_model_rate', retryAfterMs: msToWindowEnd(modelWindow, this.nowMs, DAY_MS) });
    }
    const base = this.requestEffect(chosen.model, modelWindow);
    const hit = this.findHit(chosen);
    if (hit !== undefined) {
      return { decision: { type: 'cached', nowMs: this.nowMs, state: this.limitState(1), plan, ...hit }, effect: base };
    }
    return this.admitMiss(choice, base);
  }

  private findHit({ isAnswered, cacheKey }: AdmitPlan): ReturnType<CacheLookup['find']> {
    if (isAnswered === true) return ANSWERED;
    return cacheKey === undefined ? undefined : this.lookup.find(cacheKey, this.nowMs);
  }

  private admitMiss({ plan, chosen, warning, blocked }: PlanChoice, base: AdmitEffect): AdmitOutcome {
    const { request, nowMs } = this;
    const denial = this.checkHold(chosen);
    if (denial !== undefined) return this.deny(denial);
    const { tokensPerMinute: limit, budgets, projectId, keyId } = request;
    const { holdNanoUsd } = chosen;
    const budget = budgets && checkBudgets(this.state, { projectId, keyId, budgets, holdNanoUsd, nowMs });
    if (budget === 'uncounted') return { decision: { type: 'uncounted', nowMs } };
    if (budget !== undefined) return this.deny({ reason: 'budget', budget });
    if (blocked !== undefined) return this.deny(this.spendDenial(blocked));
    const hold: Hold = {
      projectId,
      keyId,
      holdNanoUsd,
      customerId: request.customerId ?? '',
      admittedAtMs: nowMs,
      lostNanoUsd: chosen.lostNanoUsd,
      tokens: chosen.tokens,
      tokensPerMinute: limit ?? 0,
      counters: countersOf(request, nowMs),
      lostRecord: chosen.lostRecord,
    };
    return {
      decision: {
        type: 'admitted',
        nowMs,
        state: this.limitState(1),
        plan,
        ...(warning === undefined ? {} : { spendWarning: warning }),
        hotTierIncomplete:
          chosen.cacheKey !== undefined && this.lookup.isIncomplete(request.projectId, chosen.cacheKey, nowMs),
      },
      effect: {
        ...base,
        hold,
        budgets: budgets && usedBudgets(budgets, nowMs),
        levels: this.takenLevels(chosen.tokens),
        ...(limit === null
          ? {}
          : {
              tokenLevel: refillBucket(this.key?.tokens, nowMs, limit, limit) - chosen.tokens * TOKEN_UNITS,
              tokenBurst: limit,
            }),
      },
    };
  }

  private checkRequestBuckets(): Denial | undefined {
    if (this.lookup.queueFull) return { reason: 'queue_full' };
    const { keyLevel, nowMs, request } = this;
    if (keyLevel !== undefined && keyLevel < TOKEN_UNITS) {
      return {
        reason: 'key_rate',
        retryAfterMs: msUntilLevel(keyLevel, TOKEN_UNITS, request.keyBucket?.ratePerMinute ?? 0),
      };
    }
    const { levelLimits } = request;
    const used = levelLimits && checkLevelRequests(this.state, levelLimits, nowMs);
    if (used !== undefined) return used;
    return this.customer && denyCustomer(this.customer, request.maxCustomers, nowMs);
  }

  private choosePlan(): PlanChoice | { readonly downgradeModel: string } {
    const { requested, downgrade } = this.request;
    const limits = this.customer?.limits;
    const over = this.overCustomerLimit(requested.holdNanoUsd);
    if (limits === undefined || over === undefined) return { plan: 'requested', chosen: requested };
    const model = limits.onLimit === 'downgrade' && limits.downgradeModel !== '' ? limits.downgradeModel : null;
    if (limits.onLimit === 'warn' || model === requested.model)
      return { plan: 'requested', chosen: requested, warning: over };
    if (model === null) return { plan: 'requested', chosen: requested, blocked: over };
    if (downgrade?.model !== model) return { downgradeModel: model };
    return { plan: 'downgrade', chosen: downgrade, warning: over };
  }

  private overCustomerLimit(hold: number): SpendWarning | undefined {
    if (this.customer?.limits === undefined) return undefined;
    const { limits, state } = this.customer;
    const day = readSum(state.days, dayIndex(this.nowMs));
    if (isOver(limits.dailySpendNanoUsd, day, hold)) return 'customer_daily_spend';
    if (isOver(limits.monthlySpendNanoUsd, readSum(state.months, this.month), hold)) return 'customer_monthly_spend';
    return undefined;
  }

  private modelWindow(model: string): (WindowCount & { readonly limit: number }) | undefined {
    const limit = this.customer?.limits?.modelRequestsPerDay[model];
    if (this.customer === undefined || limit === undefined) return undefined;
    return { ...readWindow(this.customer.state.models.get(model), this.nowMs, DAY_MS), limit };
  }

  private checkHold(plan: AdmitPlan): Denial | undefined {
    const { request, key, nowMs } = this;
    const perRequestMax = this.customer?.limits?.perRequestMaxNanoUsd ?? null;
    if (perRequestMax !== null && plan.holdNanoUsd > perRequestMax) return { reason: 'per_request_max' };
    const limit = request.tokensPerMinute;
    if (limit !== null && plan.tokens > limit) return { reason: 'tokens_over_limit' };
    if (request.maxConcurrency !== null && (key?.open ?? 0) >= request.maxConcurrency) return { reason: 'concurrency' };
    if (limit !== null) {
      const level = refillBucket(key?.tokens, nowMs, limit, limit);
      const units = plan.tokens * TOKEN_UNITS;
      if (level < units) return { reason: 'tokens_rate', retryAfterMs: msUntilLevel(level, units, limit) };
    }
    const { tokens } = plan;
    const used = request.levelLimits && checkLevelTokens(this.state, request.levelLimits, { tokens, nowMs });
    if (used !== undefined) return used;
    const { projectCapNanoUsd: cap, keyBudgetNanoUsd: most } = request;
    if (isOver(cap, this.projectSum, plan.holdNanoUsd))
      return { reason: 'project_cap', spend: spendOf(cap, this.projectSum) };
    const ofKey = request.keyBudgetPeriod === 'total' ? key?.total : key && readSum(key.months, this.month);
    const sum = ofKey ?? { spent: 0, held: 0 };
    return isOver(most, sum, plan.holdNanoUsd) ? { reason: 'key_budget', spend: spendOf(most, sum) } : undefined;
  }

  private spendDenial(reason: SpendWarning): Denial {
    const retryAfterMs = reason === 'customer_daily_spend' ? msToNextDay(this.nowMs) : msToNextMonth(this.nowMs);
    return { reason, retryAfterMs };
  }

  private requestEffect(model: string, modelWindow: WindowCount | undefined): AdmitEffect {
    const { request, customer } = this;
    return {
      atMs: this.nowMs,
      requestId: request.requestId,
      projectId: request.projectId,
      keyId: request.keyId,
      levels: this.takenLevels(),
      ...(this.keyLevel === undefined
        ? {}
        : { keyLevel: this.keyLevel - TOKEN_UNITS, keyBurst: request.keyBucket?.burst }),
      ...(customer === undefined || request.customerId === undefined
        ? {}
        : {
            customerId: request.customerId,
            ...(customer.isNew ? { newInMonth: this.month } : {}),
            hour: countRequest(customer.hour),
            day: countRequest(customer.day),
          }),
      ...(customer?.level === undefined
        ? {}
        : {
            customerLevel: customer.level - TOKEN_UNITS,
            customerBurst: customer.limits?.requestsPerMinute ?? undefined,
          }),
      ...(modelWindow === undefined ? {} : { model, modelDay: countRequest(modelWindow) }),
    };
  }

  private takenLevels(tokens?: number): AdmitEffect['levels'] {
    const { nowMs, state } = this;
    const { levelLimits } = this.request;
    return levelLimits && takeLevels(state, levelLimits, tokens === undefined ? { nowMs } : { nowMs, tokens });
  }

  private deny({ reason, retryAfterMs, budget, spend, level }: Denial): AdmitOutcome {
    const { state, request, key, keyLevel, customer, nowMs } = this;
    stepClocksBack(state, { request, key, keyLevel, customer, nowMs });
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    return {
      decision: {
        ...{ type: 'denied', nowMs, state: this.limitState(0), reason, ...wait },
        ...(budget && { budget }),
        ...(spend && { spend }),
        ...(level && { level }),
      },
    };
  }

  private get projectSum(): { readonly spent: number; readonly held: number } {
    const project = this.state.projects.get(this.request.projectId);
    return project === undefined ? { spent: 0, held: 0 } : readSum(project.months, this.month);
  }

  private limitState(used: 0 | 1): LimitState {
    const bucket = this.request.keyBucket;
    const { customer } = this;
    return {
      ...(bucket === undefined || this.keyLevel === undefined
        ? {}
        : { rate: describeBucket(this.keyLevel - used * TOKEN_UNITS, bucket.ratePerMinute, bucket.burst) }),
      projectSpentNanoUsd: this.projectSum.spent,
      ...(customer === undefined
        ? {}
        : {
            customer: {
              spentTodayNanoUsd: readSum(customer.state.days, dayIndex(this.nowMs)).spent,
              spentMonthNanoUsd: readSum(customer.state.months, this.month).spent,
              dailyLimitNanoUsd: customer.limits?.dailySpendNanoUsd ?? null,
              monthlyLimitNanoUsd: customer.limits?.monthlySpendNanoUsd ?? null,
            },
          }),
    };
  }
}
