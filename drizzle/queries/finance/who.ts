import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { newestRows } from '../clickhouse/newest-rows';
import { innerRow } from '../inner-names';
import { ofProjects, type ProjectScope } from '../of-projects';

type Labels = Readonly<Record<string, string>>;

/** A key with costs, deleted ones included. */
export interface CostKey {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  /** Current labels, its project's included. */
  readonly labels: Labels;
}

interface KeyRow extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly name: string;
  readonly project_id: string;
  readonly labels: Labels | string | null;
}

export async function loadKeys(db: Db): Promise<ReadonlyMap<string, CostKey>> {
  const rows = await db.execute<KeyRow>(sql`select k.id::text, k.name, k.project_id::text,
      coalesce(p.labels, '{}') || coalesce(k.labels, '{}') as labels
    from api_keys k join projects p on p.id = k.project_id`);
  return new Map(rows.map((row) => [row.id, toKey(row)]));
}

const toKey = ({ id, name, project_id: projectId, labels }: KeyRow): CostKey => ({
  ...{ id, name, projectId },
  labels: typeof labels === 'string' ? (JSON.parse(labels) as Labels) : (labels ?? {}),
});

/** Where a project is. */
export interface ProjectHome {
  readonly id: string;
  readonly name: string;
  readonly teamId: string | null;
  readonly team: string | null;
  readonly organizationId: string | null;
  readonly organization: string | null;
  /** Its own, or its team's. */
  readonly costCenter: string | null;
}

export interface CurrentHome extends ProjectHome {
  readonly createdAtMs: number;
}

/** Where projects are now, deleted ones included. */
export async function loadHomes(db: Db): Promise<ReadonlyMap<string, CurrentHome>> {
  const rows = await db.execute(sql`
    select p.id::text, p.name, t.id::text as team_id, t.name as team, o.id::text as organization_id,
      o.name as organization, coalesce(p.cost_center, t.cost_center) as cost_center,
      date_part('epoch', p.created_at) * 1000 as created_at
    from projects p left join teams t on t.id = p.team_id left join organizations o on o.id = t.organization_id`);
  return new Map(rows.map((row) => innerRow<CurrentHome>(row)).map((home) => [home.id, home]));
}

/** Maximum of the newest requests that are searched for labels. */
const NEWEST = 5000;
const MAX_NAMES = 200;

/** Label names of projects, keys and recent requests. */
export async function loadLabelNames(db: Db, sinceMs: number, scope?: ProjectScope): Promise<readonly string[]> {
  const newest = await newestRows(db, { projectId: scope, limit: NEWEST, sinceMs });
  const rows = await db.execute<{ name: string }>(sql`
    select distinct jsonb_object_keys(labels) as name from (
      select labels from projects where labels is not null and deleted_at is null and ${ofProjects(scope, sql`id`)}
      union all select labels from api_keys where labels is not null and deleted_at is null and ${ofProjects(scope)}
      union all (select labels from ${newest} where labels is not null)
    ) as all_labels order by 1 limit ${MAX_NAMES}`);
  return rows.map(({ name }) => name);
}
