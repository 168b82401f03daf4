import { type SQL, sql } from 'drizzle-orm';
import { type CustomerSum, customerDayParts, customerParts } from './customer-weeks';
import { utcDay } from './rollup-deltas';
import type { StatsSegment } from './stats-range';

/** Name of all groups beyond those asked for. */
export const OTHER_GROUPS = '(other)';

export interface CustomerScope {
  readonly projectId?: string;
  /** Absent = one total: all days count as the first. */
  readonly intervalMs?: number;
  /** Customers that keep their name, '' = requests of none; absent = all do. */
  readonly kept?: readonly string[];
  /** Sums wanted, the others are 0; absent = all. */
  readonly sums?: readonly string[];
}

/**
 * Days by customer, projects together, in the shape of the other roll-ups. What all requests of a day have more than those
 * of customers is of no customer ('').
 */
export function customerTable(segment: StatsSegment, scope: CustomerScope): SQL {
  const sources = sourcesOf(segment, scope);
  return sql`(${scope.kept === undefined ? allCustomers(sources) : keptCustomers(sources, scope.kept)}) as customer_spend`;
}

interface Sources {
  readonly project: SQL;
  /** Each customer's days. */
  readonly customers: SQL;
  /** The same of those that are named, in a JSON array: found by their names. */
  readonly chosen: (names: string) => SQL;
  /** Days of all customers together. */
  readonly customerDays: SQL;
  /** Days of all requests. */
  readonly allDays: SQL;
}

/** What the table adds up, and its own name for it. */
const SPENT = {
  requests: 'request_count',
  tokens_in: 'tokens_in',
  tokens_out: 'tokens_out',
  cost_usd: 'total_spend_usd',
  saved_usd: 'saved_usd',
} as const satisfies Record<string, CustomerSum>;

const COLUMNS_READ = sql.raw(Object.values(SPENT).join(', '));
const SUMS = sql.raw(Object.keys(SPENT).join(', '));
const LESS = sql.raw(
  Object.keys(SPENT)
    .map((name) => `-${name}`)
    .join(', '),
);

function sourcesOf({ fromMs, toMs }: StatsSegment, { projectId, intervalMs, sums: wanted }: CustomerScope): Sources {
  const day = (ms: number) => sql`${utcDay(ms)}::date`;
  const condition = projectId === undefined ? sql`true` : sql`project_id = ${projectId}::uuid`;
  const date = intervalMs === undefined ? sql`${day(fromMs)} as date` : sql`date`;
  const added = (columnOf: (name: keyof typeof SPENT) => string) => {
    const isWanted = (name: string) => wanted === undefined || wanted.includes(name);
    const names = Object.keys(SPENT) as (keyof typeof SPENT)[];
    return sql.raw(names.map((name) => `${isWanted(name) ? `sum(${columnOf(name)})` : '0'} as ${name}`).join(', '));
  };
  const sums = added((name) => SPENT[name]);
  const within = sql`date >= ${day(fromMs)} and date < ${day(toMs)} and ${condition}`;
  const weeks = customerParts({ fromMs, toMs, condition, columns: sql`customer_id, ${COLUMNS_READ}` });
  const totals = customerDayParts({ fromMs, toMs, condition, columns: sql`date, ${COLUMNS_READ}` });
  return {
    project: sql`${projectId ?? null}::uuid as project_id`,
    customers: sql`select ${date}, customer_id, ${sums}
      from ${intervalMs === undefined ? sql`(${weeks}) as parts` : sql`customer_spend where ${within}`} group by 1, 2`,
    chosen: (names) => sql`select ${date}, customer_id, ${sums}
      from jsonb_array_elements_text(${names}::jsonb) as name,
        lateral (select * from customer_spend where customer_id = name and ${within} offset 0) as found group by 1, 2`,
    customerDays: sql`select ${date}, ${sums} from (${totals}) as parts group by 1`,
    allDays: sql`select ${date}, ${added((name) => name)}
      from (select (bucket at time zone 'UTC')::date as date, ${SUMS} from rollup_day
        where bucket >= to_timestamp(${fromMs}::bigint / 1000.0) and bucket < to_timestamp(${toMs}::bigint / 1000.0)
          and ${condition}) as days group by 1`,
  };
}

const COLUMNS = sql`date::timestamp at time zone 'UTC' as bucket, customer_id, ${SUMS}, '' as status, 'miss' as cache,
  0 as failovers, 0 as tokens_cache_read, 0 as tokens_cache_write, 0 as tokens_reasoning`;

/** Customers are added up once and narrowed to the day before, so that the table is read a single time. */
const allCustomers = ({ project, customers, allDays }: Sources) => sql`with customers as materialized (${customers})
  select ${project}, ${COLUMNS} from (
    select date, customer_id, ${SUMS} from customers
    union all select date, '', ${LESS} from customers
    union all select date, '', ${SUMS} from (${allDays}) as days
  ) as parts`;

/** Only the days of those that are named are read; the others are what is left of all. */
function keptCustomers({ project, chosen, customerDays, allDays }: Sources, kept: readonly string[]): SQL {
  const named = JSON.stringify(kept.filter((name) => name !== ''));
  const parts = kept.includes('')
    ? sql`select date, ${OTHER_GROUPS}, ${SUMS} from days union all select date, '', ${LESS} from days
        union all select date, '', ${SUMS} from (${allDays}) as everything`
    : sql`select date, ${OTHER_GROUPS}, ${SUMS} from (${allDays}) as everything`;
  return sql`with chosen as materialized (${chosen(named)}) ${kept.includes('') ? sql`, days as materialized (${customerDays})` : sql``}
    select ${project}, ${COLUMNS} from (
      select date, customer_id, ${SUMS} from chosen
      union all select date, ${OTHER_GROUPS}, ${LESS} from chosen
      union all ${parts}
    ) as parts`;
}
