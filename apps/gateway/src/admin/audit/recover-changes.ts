// Either store unreachable: said at debug level, tried again at the next round; requests go on with what the store has.
import { listRecentChanges } from '@llm0/drizzle/queries/access/recent-changes';
import type { AdminServices } from '../admin-services';
import { mirrorLimits } from '../customers/mirror-limits';

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'clock' | 'log'>;

const EVERY_MS = 30_000;
const LOOK_BACK_MS = 5 * 60_000;
const FIRST_LOOK_BACK_MS = 24 * 60 * 60_000;

/**
 * Brings changes into the hot store whose process died between the commit and its mirroring: of the last day at the
 * start, of the last minutes from then on, in every gateway. Returns what stops it.
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

/** Mirrors everything changed since then as it is now; changes the store already has are no news to it. */
export async function recoverChanges(services: Pick<Needs, 'db' | 'hotStore'>, sinceMs: number): Promise<void> {
  const { projects, keys, customers } = await listRecentChanges(services.db, sinceMs);
  for (const { id, version } of projects) await services.hotStore.setVersions(id, version, []);
  for (const { id, projectId, version } of keys) {
    await services.hotStore.setVersions(projectId, null, [{ keyId: id, version }]);
  }
  for (const customer of customers) await mirrorLimits(services, customer);
}
