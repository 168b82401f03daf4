import type { Alias } from '@llm0/core/routing/alias';
import type { Db } from '../../client';
import { aliases } from '../../schema/routing';
import { ofLiveProject, Rows, type Stored } from '../rows';

export const aliasRows = new Rows(aliases);
export type StoredAlias = Stored<typeof aliasRows>;

const DEFAULT_WEIGHT = 1;

/** What it stands for. */
export const targetsOf = (alias: StoredAlias): Alias['targets'] =>
  alias.targets.map(({ provider, model, weight = DEFAULT_WEIGHT }) => ({ provider, model, weight }));

/** All of them but those of deleted projects: what the routing tables are built from. */
export async function listAllAliases(db: Db): Promise<readonly Alias[]> {
  return (await aliasRows.find(db, ofLiveProject(aliases.projectId))).map((row) => ({
    name: row.alias,
    projectId: row.projectId,
    targets: targetsOf(row),
    strategy: row.strategy,
    hedgeAfterMs: row.options.hedge_after_ms,
    sessionAffinity: row.options.session_affinity,
    version: `${row.id}.${row.updatedAtMs}`,
  }));
}
