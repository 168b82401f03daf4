import type { CustomerLimits } from '@llm0/core/limits/hot-store';
import type { Db } from '../../client';
import { customerLimits } from '../../schema/customers';
import { ofLiveProject, Rows, type Stored } from '../rows';

export interface CustomerPath {
  readonly projectId: string;
  readonly customerId: string;
}

/** By project and customer. */
export const limitRows = new Rows(customerLimits, { hidden: ['id'] });
export type StoredCustomerLimits = Stored<typeof limitRows>;
/** Operator's settings; omitted = unchanged, or none. */
export type LimitColumns = Partial<Omit<StoredCustomerLimits, keyof CustomerPath>>;

/** Sets limits of the customer and raises `version`. Throws (foreign key) when the project does not exist. */
export function putCustomerLimits(db: Db, at: CustomerPath, limits: LimitColumns): Promise<StoredCustomerLimits> {
  return limitRows.put(db, ['projectId', 'customerId'], { ...at, ...limits });
}

/** Limits for the hot store; null = none. */
export async function getCustomerLimits(db: Db, at: CustomerPath): Promise<CustomerLimits | null> {
  const stored = await limitRows.get(db, at);
  return stored === null ? null : toLimits(stored);
}

/** Everything the hot store mirrors. */
export async function listAllCustomerLimits(
  db: Db,
): Promise<readonly (CustomerPath & { readonly limits: CustomerLimits })[]> {
  const rows = await limitRows.find(db, ofLiveProject(customerLimits.projectId));
  return rows.map((row) => ({ projectId: row.projectId, customerId: row.customerId, limits: toLimits(row) }));
}

function toLimits(row: StoredCustomerLimits): CustomerLimits {
  const { perRequestMaxNanoUsd, requestsPerMinute, requestsPerHour, requestsPerDay, downgradeModel } = row;
  const perDay = Object.entries(limitedModels(row.modelLimits)).map(([model, limit]) => [
    model,
    limit.requests_per_day,
  ]);
  return {
    ...{ perRequestMaxNanoUsd, requestsPerMinute, requestsPerHour, requestsPerDay, downgradeModel },
    dailySpendNanoUsd: row.dailySpendLimitNanoUsd,
    monthlySpendNanoUsd: row.monthlySpendLimitNanoUsd,
    modelRequestsPerDay: Object.fromEntries(perDay),
    onLimit: row.onLimitBehavior,
  };
}

/** Without models that have no limit. */
export function limitedModels(
  models: StoredCustomerLimits['modelLimits'],
): Record<string, { readonly requests_per_day: number }> {
  const limited = Object.entries(models).flatMap(([model, { requests_per_day: perDay }]) =>
    typeof perDay === 'number' ? [[model, { requests_per_day: perDay }] as const] : [],
  );
  return Object.fromEntries(limited);
}
