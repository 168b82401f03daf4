import { GatewayError } from '@llm0/core/errors/gateway-error';
import { formatUsdText } from '@llm0/core/pricing/format-usd';
import type { Db } from '@llm0/drizzle/client';
import { keyRows, type StoredApiKey } from '@llm0/drizzle/queries/access/api-keys';
import { findProjectPlaces } from '@llm0/drizzle/queries/access/teams';
import type { StoredRun } from '@llm0/drizzle/queries/limits/runs';
import type { Actor } from '../admin-services';

/** The key that bounds what a person may do with a run; `none` for admins, `foreign` for everybody else. */
async function boundOf(
  db: Db,
  { access, user }: Actor,
  run: Pick<StoredRun, 'projectId' | 'apiKeyId'>,
): Promise<StoredApiKey | 'none' | 'foreign'> {
  if (access.mayEverywhere('change_settings')) return 'none';
  const [place] = await findProjectPlaces(db, [run.projectId]);
  if (place === undefined || !access.mayAt(place, 'change_own_keys')) return 'foreign';
  if (access.mayAt(place, 'change_settings')) return 'none';
  const key = await keyRows.get(db, { id: run.apiKeyId });
  return key === null || user === undefined || key.userId !== user.id ? 'foreign' : key;
}

/** True if the person may stop the run. */
export const mayChangeRun = async (db: Db, actor: Actor, run: StoredRun): Promise<boolean> =>
  (await boundOf(db, actor, run)) !== 'foreign';

/**
 * People who may not change settings have the runs of their own keys: they stop them, and raise them up to the key's
 * `max_run_budget_usd`. Throws `permission_denied`.
 */
export async function refuseForeignRun(
  db: Db,
  actor: Actor,
  { run, budgetNanoUsd = 0 }: { readonly run: StoredRun; readonly budgetNanoUsd?: number },
): Promise<void> {
  const bound = await boundOf(db, actor, run);
  if (bound === 'none') return;
  if (bound === 'foreign') {
    throw new GatewayError('permission_denied', "This run isn't of a key of yours. Ask an admin of the team.");
  }
  const { maxRunBudgetNanoUsd: most } = bound;
  if (most === null || budgetNanoUsd <= most) return;
  const message = `Your key permits ${formatUsdText(most)} for a run (max_run_budget_usd). Ask an admin of the team for more.`;
  throw new GatewayError('permission_denied', message, { param: 'budget_usd' });
}
