import { packHistogram } from '@llm0/core/logs/histogram';
import { type SQL, sql } from 'drizzle-orm';
import { toolCalls } from '../../schema/tool-calls';
import type { ProjectScope } from '../of-projects';
import type { Stretch } from '../stats/read/read-days';
import type { Ask } from '../stats/read/time-limit';
import type { StoredToolCall, ToolCallFilter } from '../tool-calls/call-filter';
import { UNFOUND } from '../tool-calls/tool-call-facts';
import { columnsOf, type FoundRow, findById, ID, inStretches, isOlder } from './find-rows';
import { binOf, CALL_ROWS, instantOf, isOfProjects, listOf, startOf } from './segment-rows';

const { selected, toStored } = columnsOf<StoredToolCall>(toolCalls);

/** null when there is none. */
export async function findCall(ask: Ask, requestId: string): Promise<StoredToolCall | null> {
  const row = await findById<FoundRow>(ask, requestId, sql`select ${selected} from ${CALL_ROWS}`);
  return row === undefined ? null : toStored(row);
}

interface FindCalls {
  readonly filter: ToolCallFilter & Stretch;
  /** After this one. */
  readonly at: { readonly createdAtMs: number; readonly id: string } | undefined;
  readonly limit: number;
}

/** The newest calls of a range. */
export function findCalls(ask: Ask, { filter, at, limit }: FindCalls): Promise<readonly StoredToolCall[]> {
  const { fromMs, toMs, ...having } = filter;
  const conditions = [...conditionsOf(having), ...(at === undefined ? [] : [isOlder(at)])];
  const range = { fromMs, toMs: Math.min(toMs, (at?.createdAtMs ?? toMs) + 1), isDescending: true, limit };
  return inStretches(range, (stretch, most) => selectCalls(ask, [...conditions, inStretch(stretch)], most));
}

/** The calls of these ids. */
export const findCallsOf = (ask: Ask, ids: readonly string[], range: Stretch): Promise<readonly StoredToolCall[]> =>
  selectCalls(ask, [sql`id in (${listOf(ids)})`, inStretch(range)], ids.length);

async function selectCalls(ask: Ask, conditions: readonly SQL[], limit: number): Promise<readonly StoredToolCall[]> {
  const rows = await ask<FoundRow>(sql`select ${selected} from ${CALL_ROWS}
    where ${sql.join([...conditions], sql` and `)} order by created_at desc, ${ID} desc limit ${limit}`);
  return rows.map(toStored);
}

const inStretch = ({ fromMs, toMs }: Stretch): SQL =>
  sql`created_at >= ${instantOf(Math.ceil(fromMs))} and created_at < ${instantOf(Math.ceil(toMs))}`;

function conditionsOf({ projectId, requestId, ...having }: Omit<ToolCallFilter, keyof Stretch>): readonly SQL[] {
  const equal = Object.entries({ id: requestId, ...having }).flatMap(([name, value]) => {
    const column = toolCalls[name as keyof typeof having].name;
    return value === undefined ? [] : [sql`${sql.raw(column)} = ${value}`];
  });
  return projectId === undefined ? equal : [isOfProjects(projectId), ...equal];
}

/** Groups as the statistics of Postgres have them. */
const GROUPS = {
  server: sql`server`,
  tool: sql`server || '__' || tool`,
  project: sql`toString(project_id)`,
  key: sql`toString(api_key_id)`,
} as const satisfies Record<string, SQL>;

interface CallSums {
  readonly intervalMs?: number;
  readonly groupBy?: keyof typeof GROUPS;
  readonly projectId?: ProjectScope;
  readonly apiKeyId?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly status?: string;
}

/** Sums of a stretch by interval, group and duration. `latency`: a histogram as the roll-ups have it. */
export async function askCallSums(ask: Ask, range: Stretch, query: CallSums): Promise<readonly object[]> {
  const { intervalMs, groupBy, projectId, apiKeyId, server, tool, status } = query;
  const unfound = sql`ifNull(error_code, '') in (${listOf(UNFOUND)})`;
  const rows = await ask<{ bin: string; calls: string }>(sql`
    select ${startOf(intervalMs)} as start_ms, ${groupBy === undefined ? sql`''` : GROUPS[groupBy]} as grp,
      ${binOf('latency_ms')} as bin, count() as calls, countIf(is_error) as errors, sum(bytes_in) as bytes_in,
      sum(bytes_out) as bytes_out, sum(cost_usd) as cost_usd
    from (select * except (tool), if(${unfound}, '', tool) as tool from ${CALL_ROWS}
      where ${sql.join([inStretch(range), ...conditionsOf({ projectId, apiKeyId, server, status })], sql` and `)})
    where ${tool === undefined ? sql`true` : sql`tool = ${tool}`} group by 1, 2, 3`);
  return rows.map(({ bin, ...sums }) => {
    const packed = packHistogram(new Map([[Number(bin), Number(sums.calls)]]));
    return { ...sums, latency: `\\x${Buffer.from(packed).toString('hex')}` };
  });
}

/** Columns of `askCallSums`. */
export const CALL_SUMS =
  'start_ms bigint, grp text, calls bigint, errors bigint, ' +
  'bytes_in numeric, bytes_out numeric, cost_usd numeric, latency bytea';
