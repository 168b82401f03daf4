import { ReleasingMap } from '../../collections/linked-set';
import type { Spend } from '../budgets';
import { type Hold, LEASE_MS } from '../hold';
import type { CustomerLimits, Settlement } from '../hot-store';
import { DAYS_KEPT, HOUR_MS, MONTHS_KEPT, monthIndex } from '../periods';
import type { BucketState } from '../token-bucket';
import { windowStart } from './request-window';

/** Integer nano-USD of one period. */
export interface Sum {
  spent: number;
  held: number;
}

/** Counter of a budget, by the rules of `lua/budgets/`. */
export interface BudgetState {
  /** Version of the key or project by which it was last used. */
  version: number;
  /** False while its spend is counted from the rows. */
  isCounted: boolean;
  /** The latest period, and the one that was used before it. */
  readonly periods: Map<number, Sum>;
}

export interface ProjectState {
  version: number | undefined;
  readonly keyVersions: Map<string, number>;
  readonly months: Map<number, Sum>;
  /** Different customers without limits of their own, by month. */
  readonly customers: Map<number, number>;
  /** By id. */
  readonly budgets: Map<string, BudgetState>;
}

export interface KeyState {
  projectId: string;
  bucket: BucketState | undefined;
  tokens: BucketState | undefined;
  open: number;
  readonly total: Sum;
  readonly months: Map<number, Sum>;
}

/** Buckets of an organization, a team or a user. */
export interface LevelState {
  readonly requests?: BucketState | undefined;
  readonly tokens?: BucketState | undefined;
}

export interface CustomerState {
  /** The month in which this customer was last counted among its project's. */
  countedMonth: number | undefined;
  bucket: BucketState | undefined;
  /** Windows as `request-window.ts` stores them. */
  hour: number | undefined;
  day: number | undefined;
  readonly models: Map<string, number>;
  readonly days: Map<number, Sum>;
  readonly months: Map<number, Sum>;
}

export interface OpenHold extends Hold {
  counters?: string;
  leaseUntilMs: number;
}

/** Memory of a settled request. */
export interface DoneMark {
  readonly untilMs: number;
  /** Booked by the reaper, to be corrected once. */
  readonly reapedNanoUsd?: number;
  /** Admission time of the reaper's booking. */
  readonly admittedAtMs?: number;
}

/** Everything the embedded store decides by. */
export class EmbeddedState {
  readonly projects = new Map<string, ProjectState>();
  readonly keys = new Map<string, KeyState>();
  readonly customers = new Map<string, CustomerState>();
  /** By `LevelLimit.id`. */
  readonly levels = new Map<string, LevelState>();
  readonly limits = new Map<string, CustomerLimits>();
  readonly holds = new ReleasingMap<string, OpenHold>();
  readonly done = new Map<string, DoneMark>();
  readonly reaped = new Map<string, DoneMark>();
  /** Settlements without a hold or mark, until the rows were asked. */
  readonly unknown = new Map<string, Settlement>();
  bootId = '';

  constructor(readonly leaseMs: number = LEASE_MS) {}

  project(projectId: string): ProjectState {
    return getOrAdd(this.projects, projectId, () => ({
      version: undefined,
      keyVersions: new Map(),
      months: new Map(),
      customers: new Map(),
      budgets: new Map(),
    }));
  }

  key(projectId: string, keyId: string): KeyState {
    return getOrAdd(this.keys, keyId, () => ({
      projectId,
      bucket: undefined,
      tokens: undefined,
      open: 0,
      total: { spent: 0, held: 0 },
      months: new Map(),
    }));
  }

  customer(projectId: string, customerId: string): CustomerState {
    return getOrAdd(this.customers, customerOf(projectId, customerId), newCustomer);
  }

  /** A customer never admitted is not remembered by being looked at. */
  peekCustomer(projectId: string, customerId: string): CustomerState {
    return this.customers.get(customerOf(projectId, customerId)) ?? newCustomer();
  }

  limitsOf(projectId: string, customerId: string): CustomerLimits | undefined {
    return this.limits.get(customerOf(projectId, customerId));
  }
}

function newCustomer(): CustomerState {
  return {
    countedMonth: undefined,
    bucket: undefined,
    hour: undefined,
    day: undefined,
    models: new Map(),
    days: new Map(),
    months: new Map(),
  };
}

export const customerOf = (projectId: string, customerId: string): string => `${projectId}\n${customerId}`;

export function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const added = create();
  map.set(key, added);
  return added;
}

const NOTHING: Readonly<Sum> = { spent: 0, held: 0 };

export const isOver = (limit: number | null, sum: Readonly<Sum>, hold: number): boolean =>
  limit !== null && sum.spent + sum.held + hold > limit;

/** For the error of a limit that a request is over. */
export const spendOf = (limit: number | null, { spent, held }: Readonly<Sum>): Spend => ({
  ...{ limitNanoUsd: limit ?? 0, spentNanoUsd: spent, heldNanoUsd: held },
});

export function readSum(sums: ReadonlyMap<number, Sum>, period: number): Readonly<Sum> {
  return sums.get(period) ?? NOTHING;
}

/** The sum of a period, made (and periods long over dropped) when it is new. */
export function openSum(sums: Map<number, Sum>, period: number, kept: number): Sum {
  const known = sums.get(period);
  if (known !== undefined) return known;
  for (const old of [...sums.keys()]) if (old <= period - kept) sums.delete(old);
  const added = { spent: 0, held: 0 };
  sums.set(period, added);
  return added;
}

export const openMonth = (sums: Map<number, Sum>, month: number): Sum => openSum(sums, month, MONTHS_KEPT);
export const openDay = (sums: Map<number, Sum>, day: number): Sum => openSum(sums, day, DAYS_KEPT);

/** Counts a customer in a month, and forgets the counts of months long over. */
export function countCustomer(
  state: EmbeddedState,
  { projectId, customerId, month }: { projectId: string; customerId: string; month: number },
): void {
  const { customers } = state.project(projectId);
  for (const old of [...customers.keys()]) if (old <= month - MONTHS_KEPT) customers.delete(old);
  customers.set(month, (customers.get(month) ?? 0) + 1);
  state.customer(projectId, customerId).countedMonth = month;
}

/** Months until an absent customer is dropped. */
const CUSTOMER_MONTHS = 3;

export function forgetCustomers(state: EmbeddedState, month: number): void {
  for (const [id, { countedMonth = 0, months, hour = 0 }] of state.customers) {
    const asked = monthIndex(windowStart(hour, HOUR_MS));
    if (Math.max(countedMonth, asked, ...months.keys()) < month - CUSTOMER_MONTHS) state.customers.delete(id);
  }
}
