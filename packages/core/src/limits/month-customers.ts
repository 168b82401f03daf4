import type { Hold } from './hold';
import type { RebuildData } from './hot-store';
import { monthIndex, parseMonth } from './periods';

export interface MonthCustomer {
  readonly projectId: string;
  readonly customerId: string;
  /** Month index. */
  readonly month: number;
}

/**
 * Customers for `max_customers`: those of this month without limits of their own, from rows and open holds. Customers
 * counted before limits existed don't count any more.
 */
export function customersOfMonth(known: {
  readonly data: RebuildData;
  readonly holds: Iterable<Hold>;
  readonly nowMs: number;
}): readonly MonthCustomer[] {
  const month = monthIndex(known.nowMs);
  const limited = new Set(known.data.customerLimits.map(nameOf));
  const ofMonth = new Map<string, MonthCustomer>();
  const add = (customer: Pick<MonthCustomer, 'projectId' | 'customerId'>) => {
    const { projectId, customerId } = customer;
    if (!limited.has(nameOf(customer))) ofMonth.set(nameOf(customer), { projectId, customerId, month });
  };
  for (const row of known.data.customerMonths) if (parseMonth(row.month) === month) add(row);
  for (const hold of known.holds) if (hold.customerId !== '' && monthIndex(hold.admittedAtMs) === month) add(hold);
  return [...ofMonth.values()];
}

const nameOf = ({ projectId, customerId }: Pick<MonthCustomer, 'projectId' | 'customerId'>) =>
  `${projectId}\n${customerId}`;
