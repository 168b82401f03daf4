import type { Level, Spend, SpentBudget } from '../budgets';
import type { DenialReason } from '../denial-reason';
import type { AdmitRequest, CustomerLimits } from '../hot-store';
import { DAY_MS, HOUR_MS, monthIndex, msToNextMonth } from '../periods';
import { msUntilLevel, refillBucket, TOKEN_UNITS } from '../token-bucket';
import { msToWindowEnd, readWindow, type WindowCount } from './request-window';
import type { CustomerState, EmbeddedState } from './state';

export interface Denial {
  readonly reason: DenialReason;
  readonly retryAfterMs?: number | undefined;
  readonly budget?: SpentBudget;
  readonly spend?: Spend;
  readonly level?: Level;
}

/** A customer's counters before a decision. */
export interface CustomerCheck {
  readonly state: CustomerState;
  readonly limits: CustomerLimits | undefined;
  readonly level: number | undefined;
  readonly hour: WindowCount;
  readonly day: WindowCount;
  /** One more among the project's customers of this month. */
  readonly isNew: boolean;
  /** The project's customers of this month so far. */
  readonly customers: number;
}

export function checkCustomer(state: EmbeddedState, request: AdmitRequest, nowMs: number): CustomerCheck | undefined {
  const { projectId, customerId } = request;
  if (customerId === undefined) return undefined;
  const customer = state.peekCustomer(projectId, customerId);
  const limits = state.limitsOf(projectId, customerId);
  const perMinute = limits?.requestsPerMinute ?? undefined;
  const month = monthIndex(nowMs);
  return {
    state: customer,
    limits,
    level: perMinute === undefined ? undefined : refillBucket(customer.bucket, nowMs, perMinute, perMinute),
    hour: readWindow(customer.hour, nowMs, HOUR_MS),
    day: readWindow(customer.day, nowMs, DAY_MS),
    isNew: limits === undefined && customer.countedMonth !== month,
    customers: state.projects.get(projectId)?.customers.get(month) ?? 0,
  };
}

/** Reason to refuse any request of a customer. */
export function denyCustomer(
  { limits, level, hour, day, isNew, customers }: CustomerCheck,
  maxCustomers: number | null,
  nowMs: number,
): Denial | undefined {
  if (isNew && maxCustomers !== null && customers >= maxCustomers) {
    return { reason: 'customer_count', retryAfterMs: msToNextMonth(nowMs) };
  }
  if (limits === undefined) return undefined;
  if (level !== undefined && level < TOKEN_UNITS) {
    return { reason: 'customer_rate', retryAfterMs: msUntilLevel(level, TOKEN_UNITS, limits.requestsPerMinute ?? 0) };
  }
  if (limits.requestsPerHour !== null && hour.count >= limits.requestsPerHour) {
    return { reason: 'customer_rate', retryAfterMs: msToWindowEnd(hour, nowMs, HOUR_MS) };
  }
  if (limits.requestsPerDay !== null && day.count >= limits.requestsPerDay) {
    return { reason: 'customer_rate', retryAfterMs: msToWindowEnd(day, nowMs, DAY_MS) };
  }
  return undefined;
}
