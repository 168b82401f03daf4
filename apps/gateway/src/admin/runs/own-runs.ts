import { GatewayError } from '@llm0/core/errors/gateway-error';
import { formatUsdText } from '@llm0/core/pricing/format-usd';
import type { Db } from '@llm0/drizzle/client';
import { keyRows } from '@llm0/drizzle/queries/access/api-keys';
import { findProjectPlaces } from '@llm0/drizzle/queries/access/teams';
import type { StoredRun } from '@llm0/drizzle/queries/limits/runs';
import type { Actor } from '../admin-services';

/**
 * People who may not change settings have the runs of their own keys: they stop them, and raise them up to the key's
 * `max_run_budget_usd`. Throws `permission_denied`.
 */
export async function refuseForeignRun(
  db: Db,
  { access, user }: Actor,
  { run, budgetNanoUsd = 0 }: { readonly run: StoredRun; readonly budgetNanoUsd?: number },
): Promise<void> {
  if (access.mayEverywhere('change_settings')) return;
  const [place] = await findProjectPlaces(db, [run.projectId]);
  if (place !== undefined && access.mayAt(place, 'change_settings')) return;
  const key = await keyRows.get(db, { id: run.apiKeyId });
  if (key === null || user === undefined || key.userId !== user.id) {
    throw new GatewayError('permission_denied', "This run isn't of a key of yours. Ask an admin of the team.");
  }
  const { maxRunBudgetNanoUsd: most } = key;
  if (most === null || budgetNanoUsd <= most) return;
  const message = `Your key permits ${formatUsdText(most)} for a run (max_run_budget_usd). Ask an admin of the team for more.`;
  throw new GatewayError('permission_denied', message, { param: 'budget_usd' });
}
