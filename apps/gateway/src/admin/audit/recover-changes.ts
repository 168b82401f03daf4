// Without a store, it logs at debug level and retries in the next round. Requests use the hot store's state.
import { listRecentChanges } from '@llm0/drizzle/queries/access/recent-changes';
import type { AdminServices } from '../admin-services';
import { mirrorLimits } from '../customers/mirror-limits';

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'clock' | 'log'>;

const EVERY_MS = 30_000;
const LOOK_BACK_MS = 5 * 60_000;
const FIRST_LOOK_BACK_MS = 24 * 60 * 60_000;

/**
 * Mirrors changes whose process died between commit and mirroring: the last day at start, then the last minutes, in
 * every gateway. Returns a stop function.
 */
export function startRecovery(services: Needs): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  const round = async (lookBackMs: number) => {
    try {
      await recoverChanges(services, services.clock.nowMs() - lookBackMs);
    } catch (err) {
      services.log.debug({ err }, 'recent changes could not be brought into the hot store');
    }
    if (isStopped) return;
    timer = setTimeout(() => void round(LOOK_BACK_MS), EVERY_MS);
    timer.unref();
  };
  void round(FIRST_LOOK_BACK_MS);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Mirrors the current state of everything changed since then; repeated changes do no harm. */
export async function recoverChanges(services: Pick<Needs, 'db' | 'hotStore'>, sinceMs: number): Promise<void> {
  const { projects, keys, customers } = await listRecentChanges(services.db, sinceMs);
  for (const { id, version } of projects) await services.hotStore.setVersions(id, version, []);
  for (const { id, projectId, version } of keys) {
    await services.hotStore.setVersions(projectId, null, [{ keyId: id, version }]);
  }
  for (const customer of customers) await mirrorLimits(services, customer);
}
