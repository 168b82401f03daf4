import type { Customer } from '../../api/projects';
import type { SpendBucket } from '../../api/stats';
import type { RequestsFilter } from '../../range/use-show-requests';
import { UUID } from '../../range/uuid';

/** A customer over all shown projects. */
export interface CustomerLine {
  readonly id: string;
  /** Of the range; null where only whole days are known. */
  readonly costUsd: number | null;
  readonly requests: number | null;
  /** Of the range's spend. */
  readonly share: number | null;
  /** Last days, today included; null beyond the dearest customers. */
  readonly days: readonly number[] | null;
  readonly monthUsd: number | null;
  /** Its limits of its own, by project. */
  readonly limits: readonly Customer[];
}

interface Found {
  /** Sums of the range by customer, without an interval. */
  readonly spend: readonly SpendBucket[];
  readonly month: readonly SpendBucket[];
  readonly daysOf: (customer: string) => readonly number[] | null;
  /** Customers with limits. */
  readonly limited: readonly Customer[];
  /** Those that match a search, undefined without one. */
  readonly matching?: readonly Customer[];
  /** False where `matching` counts days that the range cuts. */
  readonly isByDays: boolean;
}

const OTHER = '(other)';
const isNamed = ({ group }: SpendBucket) => group !== null && group !== '' && group !== OTHER;

/** Customers of all projects together, dearest first. */
export function prepareCustomers({ spend, month, daysOf, limited, matching, isByDays }: Found): CustomerLine[] {
  const total = spend.reduce((sum, { cost_usd: usd }) => sum + usd, 0);
  const spent = new Map(spend.filter(isNamed).map((bucket) => [bucket.group ?? '', bucket]));
  const months = new Map(month.map((bucket) => [bucket.group ?? '', bucket.cost_usd]));
  const isMonthWhole = !months.has(OTHER);
  const limits = Map.groupBy(limited, ({ customer_id: id }) => id);
  const listed = matching === undefined ? undefined : Map.groupBy(matching, ({ customer_id: id }) => id);
  const ids = listed?.keys() ?? new Set([...spent.keys(), ...limits.keys()]);
  return [...ids]
    .map((id): CustomerLine => {
      const own = spent.get(id) ?? (isByDays ? sumOf(listed?.get(id) ?? []) : undefined);
      // One of a search may be among those left out.
      const isKnown = own !== undefined || listed === undefined;
      const costUsd = own?.cost_usd ?? (isKnown ? 0 : null);
      return {
        ...{ id, costUsd, requests: own?.requests ?? (isKnown ? 0 : null) },
        share: costUsd === null || total === 0 ? null : costUsd / total,
        days: daysOf(id),
        monthUsd:
          months.get(id) ?? listed?.get(id)?.reduce((sum, one) => sum + one.month_usd, 0) ?? (isMonthWhole ? 0 : null),
        limits: limits.get(id) ?? listed?.get(id)?.filter(({ has_limits }) => has_limits) ?? [],
      };
    })
    .sort(
      (a, b) =>
        (b.costUsd ?? -1) - (a.costUsd ?? -1) || (b.monthUsd ?? -1) - (a.monthUsd ?? -1) || (a.id < b.id ? -1 : 1),
    );
}

const sumOf = (parts: readonly Customer[]) => ({
  cost_usd: parts.reduce((sum, { cost_usd: usd }) => sum + usd, 0),
  requests: parts.reduce((sum, { requests }) => sum + requests, 0),
});

/** A customer of one project, or of all that are shown. */
export interface OpenedCustomer {
  readonly projectId: string | undefined;
  readonly customerId: string;
}

/** Its requests, none of them open. */
export const requestsOf = ({ customerId, projectId }: OpenedCustomer): RequestsFilter => ({
  ...{ customer_id: customerId, open: undefined },
  ...(projectId === undefined ? {} : { project: projectId }),
});

const UUID_LENGTH = 36;

/** Reads `<project> <customer>`, or the name of a customer alone. */
export function readOpened(open: string): OpenedCustomer {
  const [projectId, rest] = [open.slice(0, UUID_LENGTH), open.slice(UUID_LENGTH + 1)];
  const isOfProject = UUID.test(projectId) && open[UUID_LENGTH] === ' ' && rest !== '';
  return isOfProject ? { projectId, customerId: rest } : { projectId: undefined, customerId: open };
}
