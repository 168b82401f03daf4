import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { newestRows } from '../clickhouse/newest-rows';
import { containsPattern } from '../contains-pattern';
import { instant } from '../instant';
import { ofProjects, type ProjectScope } from '../of-projects';
import { askInTime } from '../stats/read/time-limit';
import { utcDay } from '../stats/utc-day';

/** A value that requests have had. */
export interface KnownValue {
  readonly value: string;
  /** Name, if the value is an id. */
  readonly label: string | null;
}

export interface ValueQuestion {
  readonly projectId?: ProjectScope;
  /** Part of the value or its name; ignores case. */
  readonly q?: string;
  readonly nowMs: number;
  readonly limit: number;
}

const DAY_MS = 86_400_000;
const LOOK_BACK_MS = 30 * DAY_MS;
/** Newest rows to search for labels and HTTP statuses, which roll-ups lack. */
const SAMPLE = 2000;

type Asked = Pick<ValueQuestion, 'projectId' | 'nowMs'> & {
  readonly like: SQL;
  /** The newest rows, where a source needs them. */
  readonly newest: SQL;
};

const ofProject = ({ projectId }: Asked, column?: SQL) => ofProjects(projectId, column);
const since = ({ nowMs }: Asked) => instant(nowMs - LOOK_BACK_MS);
/** Values with recent frequency and labels; `like` is the search pattern. */
const SOURCES = {
  model: (asked) => sql`select model as value, null as label, sum(requests) as n from rollup_day
    where bucket >= ${since(asked)} and ${ofProject(asked)} and model ilike ${asked.like} group by 1 having sum(requests) > 0`,
  provider: (asked) => sql`select provider as value, null as label, sum(requests) as n from rollup_day
    where bucket >= ${since(asked)} and ${ofProject(asked)} and provider ilike ${asked.like} group by 1 having sum(requests) > 0`,
  error_code: (asked) => sql`select error_code as value, null as label, sum(requests) as n from rollup_error
    where bucket >= ${since(asked)} and ${ofProject(asked)} and error_code ilike ${asked.like} group by 1`,
  customer_id: (asked) => sql`select customer_id as value, null as label, sum(n) as n from (
      select customer_id, request_count as n from customer_spend where date >= ${utcDay(asked.nowMs - 7 * DAY_MS)}::date
        and ${ofProject(asked)} and customer_id ilike ${asked.like}
      union all select customer_id, 0 from customer_limits where ${ofProject(asked)} and customer_id ilike ${asked.like}
    ) as known group by 1`,
  api_key_id: (asked) => sql`select k.id::text as value, k.name || ' · ' || p.name as label,
      extract(epoch from k.created_at) as n from api_keys k join projects p on p.id = k.project_id
    where ${ofProject(asked, sql`k.project_id`)} and p.deleted_at is null
      and (k.name ilike ${asked.like} or k.key_prefix ilike ${asked.like} or p.name ilike ${asked.like}
        or k.id::text ilike ${asked.like})`,
  project_id: (asked) => sql`select id::text as value, name as label, extract(epoch from created_at) as n from projects
    where deleted_at is null and ${ofProject(asked, sql`id`)} and (name ilike ${asked.like} or id::text ilike ${asked.like})`,
  http_status: (asked) => sql`select http_status::text as value, null as label, count(*) as n
    from ${asked.newest} where http_status::text ilike ${asked.like} group by 1`,
  label: (asked) => sql`select name as value, null as label, count(*) as n
    from ${asked.newest}, jsonb_object_keys(labels) as name where name ilike ${asked.like} group by 1`,
} as const satisfies Record<string, (asked: Asked) => SQL>;

export type KnownField = keyof typeof SOURCES;

/** Recent values of a field, the most frequent first (keys and projects: the newest); within 3 s. */
export const listKnownValues = (db: Db, field: KnownField, question: ValueQuestion) =>
  ask(db, { source: SOURCES[field], isOfRows: field === 'http_status' || field === 'label' }, question);

/** Recent values of a label. */
export const listLabelValues = (db: Db, name: string, question: ValueQuestion) => {
  const value = sql`labels ->> ${name}`;
  const source = (asked: Asked) => sql`select value, null as label, count(*) as n
    from (select ${value} as value from ${asked.newest}) as named where value ilike ${asked.like} group by 1`;
  return ask(db, { source, isOfRows: true }, question);
};

interface Source {
  readonly source: (asked: Asked) => SQL;
  readonly isOfRows: boolean;
}

async function ask(
  db: Db,
  { source, isOfRows }: Source,
  { q = '', limit, ...question }: ValueQuestion,
): Promise<readonly KnownValue[]> {
  const newest = isOfRows ? await newestRows(db, { projectId: question.projectId, limit: SAMPLE }) : sql``;
  const found = source({ ...question, newest, like: sql`${containsPattern(q)}` });
  return askInTime(db, (run) =>
    run<Record<keyof KnownValue, string>>(
      sql`select value, label from (${found}) as found where value <> '' order by n desc, value limit ${limit}`,
    ),
  );
}
