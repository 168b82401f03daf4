import type { Alias } from '@llm0/core/routing/alias';
import { timeoutsOf } from '@llm0/core/routing/attempt-plan';
import type { Db } from '../../client';
import { aliases } from '../../schema/routing';
import { ofLiveProject, Rows, type Stored } from '../rows';

export const aliasRows = new Rows(aliases);
export type StoredAlias = Stored<typeof aliasRows>;

const DEFAULT_WEIGHT = 1;

/** Its target. */
export const targetsOf = (alias: StoredAlias): Alias['targets'] =>
  alias.targets.map(({ provider, model, weight = DEFAULT_WEIGHT, ...own }) => {
    const timeouts = timeoutsOf({ requestMs: own.request_timeout_ms, answerMs: own.answer_timeout_ms });
    return { provider, model, weight, ...(timeouts === undefined ? {} : { timeouts }) };
  });

/** All aliases except those of deleted projects, for the routing tables. */
export async function listAllAliases(db: Db): Promise<readonly Alias[]> {
  return (await aliasRows.find(db, ofLiveProject(aliases.projectId))).map((row) => ({
    name: row.alias,
    projectId: row.projectId,
    targets: targetsOf(row),
    strategy: row.strategy,
    hedgeAfterMs: row.options.hedge_after_ms,
    sessionAffinity: row.options.session_affinity,
    failover: row.options.failover,
    retryTimeouts: row.options.retry_timeouts,
    version: `${row.id}.${row.updatedAtMs}`,
  }));
}
