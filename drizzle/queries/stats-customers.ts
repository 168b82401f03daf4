import { type SQL, sql } from 'drizzle-orm';
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
  /** Each customer's days, with a condition more. */
  readonly customers: (condition: SQL) => SQL;
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
} as const;

const SUMS = sql.raw(Object.keys(SPENT).join(', '));
const LESS = sql.raw(
  Object.keys(SPENT)
    .map((name) => `-${name}`)
    .join(', '),
);

function sourcesOf({ fromMs, toMs }: StatsSegment, { projectId, intervalMs, sums: wanted }: CustomerScope): Sources {
  const day = (ms: number) => sql`${new Date(ms).toISOString().slice(0, 10)}::date`;
  const ofProject = projectId === undefined ? sql`` : sql`and project_id = ${projectId}::uuid`;
  const date = intervalMs === undefined ? day(fromMs) : sql`date`;
  const columns = Object.entries(SPENT).map(([name, column]) =>
    wanted === undefined || wanted.includes(name) ? `sum(${column}) as ${name}` : `0 as ${name}`,
  );
  const sums = sql.raw(columns.join(', '));
  const from = sql`from customer_spend where date >= ${day(fromMs)} and date < ${day(toMs)} ${ofProject}`;
  return {
    project: sql`${projectId ?? null}::uuid as project_id`,
    customers: (condition) => sql`select ${date} as date, customer_id, ${sums} ${from} and ${condition} group by 1, 2`,
    customerDays: sql`select ${date} as date, ${sums} ${from} group by 1`,
    allDays: sql`select ${intervalMs === undefined ? day(fromMs) : sql`(bucket at time zone 'UTC')::date`} as date, ${SUMS}
      from rollup_day where bucket >= to_timestamp(${fromMs}::bigint / 1000.0)
        and bucket < to_timestamp(${toMs}::bigint / 1000.0) ${ofProject}`,
  };
}

const COLUMNS = sql`date::timestamp at time zone 'UTC' as bucket, customer_id, ${SUMS}, '' as status, 'miss' as cache,
  0 as failovers, 0 as tokens_cache_read, 0 as tokens_cache_write, 0 as tokens_reasoning`;

/** Customers are added up once and narrowed to the day before, so that the table is read a single time. */
const allCustomers = ({
  project,
  customers,
  allDays,
}: Sources) => sql`with customers as materialized (${customers(sql`true`)})
  select ${project}, ${COLUMNS} from (
    select date, customer_id, ${SUMS} from customers
    union all select date, '', ${LESS} from customers
    union all select date, '', ${SUMS} from (${allDays}) as days
  ) as parts`;

/** Only the days of those that are named are read; the others are what is left of all. */
function keptCustomers({ project, customers, customerDays, allDays }: Sources, kept: readonly string[]): SQL {
  const named = JSON.stringify(kept.filter((name) => name !== ''));
  const chosen = customers(sql`customer_id in (select value from jsonb_array_elements_text(${named}::jsonb))`);
  const parts = kept.includes('')
    ? sql`select date, ${OTHER_GROUPS}, ${SUMS} from days union all select date, '', ${LESS} from days
        union all select date, '', ${SUMS} from (${allDays}) as everything`
    : sql`select date, ${OTHER_GROUPS}, ${SUMS} from (${allDays}) as everything`;
  return sql`with chosen as materialized (${chosen}) ${kept.includes('') ? sql`, days as materialized (${customerDays})` : sql``}
    select ${project}, ${COLUMNS} from (
      select date, customer_id, ${SUMS} from chosen
      union all select date, ${OTHER_GROUPS}, ${LESS} from chosen
      union all ${parts}
    ) as parts`;
}
