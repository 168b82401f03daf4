import type { Alias } from '@llm0/core/routing/alias';
import { and, eq, isNull, or, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { projects } from '../../schema/projects';
import { aliases } from '../../schema/routing';
import { afterCursor, newestFirst, type Page, type PageRequest, toPage } from '../page';

export interface StoredAlias extends Alias {
  readonly id: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type AliasSettings = Pick<Alias, 'name' | 'projectId' | 'targets' | 'strategy' | 'hedgeAfterMs'>;

type Row = typeof aliases.$inferSelect;

const DEFAULT_WEIGHT = 1;

const toStored = (row: Row): StoredAlias => ({
  id: row.id,
  name: row.alias,
  projectId: row.projectId,
  targets: row.targets.map(({ provider, model, weight = DEFAULT_WEIGHT }) => ({ provider, model, weight })),
  strategy: row.strategy,
  hedgeAfterMs: row.options.hedge_after_ms,
  version: `${row.id}.${row.updatedAt.getTime()}`,
  createdAtMs: row.createdAt.getTime(),
  updatedAtMs: row.updatedAt.getTime(),
});

/** All of them but those of deleted projects: what the routing tables are built from. */
export async function listAllAliases(db: Db): Promise<readonly StoredAlias[]> {
  const rows = await db
    .select({ alias: aliases })
    .from(aliases)
    .leftJoin(projects, eq(projects.id, aliases.projectId))
    .where(or(isNull(aliases.projectId), isNull(projects.deletedAt)));
  return rows.map((row) => toStored(row.alias));
}

/** Newest first; with `projectId`, that project's own. */
export async function listAliases(
  db: Db,
  page: PageRequest,
  filter: { readonly projectId?: string; readonly name?: string } = {},
): Promise<Page<StoredAlias>> {
  const rows = await db
    .select()
    .from(aliases)
    .where(
      and(
        filter.projectId === undefined ? undefined : eq(aliases.projectId, filter.projectId),
        filter.name === undefined ? undefined : eq(aliases.alias, filter.name),
        afterCursor(page, aliases.createdAt, aliases.id),
      ),
    )
    .orderBy(...newestFirst(aliases.createdAt, aliases.id))
    .limit(page.limit + 1);
  return toPage(rows.map(toStored), page.limit);
}

export async function getAlias(db: Db, id: string): Promise<StoredAlias | null> {
  const [row] = await db.select().from(aliases).where(eq(aliases.id, id));
  return row === undefined ? null : toStored(row);
}

/** null when the project (or all projects) has an alias of that name already. */
export async function createAlias(db: Db, settings: AliasSettings): Promise<StoredAlias | null> {
  const { name: alias, projectId, targets, strategy, hedgeAfterMs } = settings;
  const [row] = await db
    .insert(aliases)
    .values({ alias, projectId, targets, strategy, options: { hedge_after_ms: hedgeAfterMs } })
    .onConflictDoNothing()
    .returning();
  return row === undefined ? null : toStored(row);
}

/** Changes what is given (`hedgeAfterMs` null = never); null when there is no such alias. */
export async function updateAlias(
  db: Db,
  id: string,
  changes: Partial<Pick<AliasSettings, 'targets' | 'strategy'>> & { readonly hedgeAfterMs?: number | null },
): Promise<StoredAlias | null> {
  const { hedgeAfterMs, ...columns } = changes;
  const options = hedgeAfterMs === undefined ? undefined : { hedge_after_ms: hedgeAfterMs ?? undefined };
  const [row] = await db
    .update(aliases)
    .set({ ...columns, options, updatedAt: sql`now()` })
    .where(eq(aliases.id, id))
    .returning();
  return row === undefined ? null : toStored(row);
}

/** False when there was none. */
export async function deleteAlias(db: Db, id: string): Promise<boolean> {
  return (await db.delete(aliases).where(eq(aliases.id, id)).returning({ id: aliases.id })).length > 0;
}
