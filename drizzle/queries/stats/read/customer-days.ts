import { type SQL, sql } from 'drizzle-orm';
import { ofProjects } from '../../of-projects';
import { utcDay } from '../utc-day';
import { OTHER_GROUPS, type StatsScope } from './questions';
import type { StatsSegment } from './time-segments';

type CustomerScope = Pick<StatsScope, 'projectId' | 'intervalMs' | 'kept' | 'sums'>;

/** Sums of `customer_spend`, with their columns. */
const SPENT = {
  requests: 'request_count',
  tokens_in: 'tokens_in',
  tokens_out: 'tokens_out',
  cost_usd: 'total_spend_usd',
  saved_usd: 'saved_usd',
} as const;
type Spent = keyof typeof SPENT;
const NAMES = Object.keys(SPENT) as Spent[];
const SUMS = sql.raw(NAMES.join(', '));
const LESS = sql.raw(NAMES.map((name) => `-${name}`).join(', '));

/**
 * Daily sums by customer over all projects, in the shape of the other roll-ups. Requests without a customer count under
 * ''.
 */
export function customerDays(segment: StatsSegment, scope: CustomerScope): SQL {
  const sources = sourcesOf(segment, scope);
  const parts = scope.kept === undefined ? allCustomers(sources) : keptCustomers(sources, scope.kept);
  return sql`(${parts}) as customer_spend`;
}

interface Sources {
  /** Columns of the other roll-ups that these rows lack. */
  readonly shape: SQL;
  /** Each customer's days. */
  readonly customers: SQL;
  /** Days of customers named in a JSON array. */
  readonly chosen: (names: string) => SQL;
  /** Days of all customers together. */
  readonly customerTotals: SQL;
  /** Days of all requests. */
  readonly allDays: SQL;
}

function sourcesOf({ fromMs, toMs }: StatsSegment, { projectId, intervalMs, sums }: CustomerScope): Sources {
  const day = (ms: number) => sql`${utcDay(ms)}::date`;
  const condition = ofProjects(projectId);
  const date = intervalMs === undefined ? sql`${day(fromMs)} as date` : sql`date`;
  const added = (columnOf: (name: Spent) => string) => {
    const isWanted = (name: Spent) => sums === undefined || sums.includes(name);
    return sql.raw(NAMES.map((name) => `${isWanted(name) ? `sum(${columnOf(name)})` : '0'} as ${name}`).join(', '));
  };
  const spent = added((name) => SPENT[name]);
  const within = sql`date >= ${day(fromMs)} and date < ${day(toMs)} and ${condition}`;
  return {
    // Whoever asks for several gets the sum of them, under the first.
    shape: sql`${[projectId].flat()[0] ?? null}::uuid as project_id, date::timestamp at time zone 'UTC' as bucket, '' as status,
      'miss' as cache, 0 as failovers, 0 as tokens_cache_read, 0 as tokens_cache_write, 0 as tokens_reasoning`,
    customers: sql`select ${date}, customer_id, ${spent} from customer_spend where ${within} group by 1, 2`,
    chosen: (names) => sql`select ${date}, customer_id, ${spent}
      from jsonb_array_elements_text(${names}::jsonb) as name,
        lateral (select * from customer_spend where customer_id = name and ${within} offset 0) as found group by 1, 2`,
    customerTotals: sql`select ${date}, ${spent} from customer_spend where ${within} group by 1`,
    allDays: sql`select ${date}, ${added((name) => name)}
      from (select (bucket at time zone 'UTC')::date as date, ${SUMS} from rollup_day
        where bucket >= to_timestamp(${fromMs}::bigint / 1000.0) and bucket < to_timestamp(${toMs}::bigint / 1000.0)
          and ${condition}) as days group by 1`,
  };
}

/** Customers are added up once and narrowed to the day before, so that the table is read a single time. */
const allCustomers = ({ shape, customers, allDays }: Sources) => sql`with customers as materialized (${customers})
  select ${shape}, customer_id, ${SUMS} from (
    select date, customer_id, ${SUMS} from customers
    union all select date, '', ${LESS} from customers
    union all select date, '', ${SUMS} from (${allDays}) as days
  ) as parts`;

/** Reads only the named customers' days; the others are the remainder of the total. */
function keptCustomers({ shape, chosen, customerTotals, allDays }: Sources, kept: readonly string[]): SQL {
  const named = JSON.stringify(kept.filter((name) => name !== ''));
  const rest = kept.includes('')
    ? sql`select date, ${OTHER_GROUPS}, ${SUMS} from totals union all select date, '', ${LESS} from totals
        union all select date, '', ${SUMS} from (${allDays}) as everything`
    : sql`select date, ${OTHER_GROUPS}, ${SUMS} from (${allDays}) as everything`;
  return sql`with chosen as materialized (${chosen(named)})
    ${kept.includes('') ? sql`, totals as materialized (${customerTotals})` : sql``}
    select ${shape}, customer_id, ${SUMS} from (
      select date, customer_id, ${SUMS} from chosen
      union all select date, ${OTHER_GROUPS}, ${LESS} from chosen
      union all ${rest}
    ) as parts`;
}
