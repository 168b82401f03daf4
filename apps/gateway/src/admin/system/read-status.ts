// Reports an unavailable store or a slow query; the status itself always answers.
import { inTime } from '@llm0/core/async/in-time';
import type { TargetStatus } from '@llm0/core/routing/target-health';
import { engineOf } from '@llm0/drizzle/queries/clickhouse/log-engine';
import { countLogs } from '@llm0/drizzle/queries/logs/count-logs';
import { readEngineState } from '@llm0/drizzle/queries/logs/log-days';
import { findOutageStart } from '@llm0/drizzle/queries/logs/outage-start';
import type { AdminServices } from '../admin-services';
import { showInstant } from '../fields/show-fields';

const CHECK_MS = 1000;
/** Viewers share a count for this time. */
const KEPT_MS = 5000;
/** An outage is looked for in the log so far back. */
const LOOK_BACK_MS = 24 * 3_600_000;

type Needs = Pick<AdminServices, 'db' | 'clock' | 'hotStore' | 'health' | 'routing'>;

interface Outage {
  readonly fromMs: number;
  /** Requests that others answered; null when they could not be counted. */
  readonly elsewhere: number | null;
}

/** Current problems, as the API shows them. */
export function createStatusReader({ db, clock, hotStore, health, routing }: Needs) {
  const kept = new Map<string, { readonly atMs: number; readonly outage: Promise<Outage> }>();
  const look = async (provider: string, models: readonly string[], openedMs: number): Promise<Outage> => {
    const failedMs = await findOutageStart(db, { provider, models, fromMs: clock.nowMs() - LOOK_BACK_MS }).catch(
      () => null,
    );
    const fromMs = Math.min(openedMs, failedMs ?? openedMs);
    const elsewhere = await countLogs(db, { failoverFrom: provider, fromMs }).catch(() => null);
    return { fromMs, elsewhere };
  };
  /** A process forgets its outages when it ends; the log keeps them. */
  const outageOf = (provider: string, models: readonly string[], openedMs: number) => {
    const nowMs = clock.monotonicMs();
    const name = [provider, ...models].join('\n');
    const known = kept.get(name);
    if (known !== undefined && nowMs - known.atMs < KEPT_MS) return known.outage;
    const outage = look(provider, models, openedMs);
    for (const [other, { atMs }] of kept) if (nowMs - atMs >= KEPT_MS) kept.delete(other);
    kept.set(name, { atMs: nowMs, outage });
    return outage;
  };
  return async () => {
    const nowMs = clock.nowMs();
    const { providers } = routing();
    const away = () => ({ ok: false });
    const store = inTime(hotStore.health().catch(away), CHECK_MS, away);
    const open = [...openByProvider(health.list())].map(async ([provider, { models, downForMs, openForMs }]) => {
      const { fromMs, elsewhere } = await outageOf(provider, models, nowMs - downForMs);
      // Whole seconds, and one past instant once due: a status without news stays the same.
      const retryAt = openForMs > 0 ? Math.ceil((nowMs + openForMs) / 1000) * 1000 : fromMs;
      const isDrained = providers.get(provider)?.isDrained === true;
      return {
        ...{ provider, models, since: showInstant(fromMs), retry_at: showInstant(retryAt) },
        ...{ answered_elsewhere: elsewhere, is_drained: isDrained },
      };
    });
    const { ok } = await store;
    const logDatabase = await readLogDatabase(db);
    return {
      hot_store: { kind: hotStore.kind, ok },
      ...(logDatabase === undefined ? {} : { log_database: logDatabase }),
      open: await Promise.all(open),
    };
  };
}

/** Without Postgres, nothing is known of it. */
async function readLogDatabase(db: Needs['db']) {
  const engine = engineOf(db);
  if (engine === undefined) return undefined;
  const state = await readEngineState(db, engine.store).catch(() => null);
  const sinceMs = state?.failingSinceMs ?? null;
  return { ok: sinceMs === null, since: sinceMs === null ? null : showInstant(sinceMs) };
}

function openByProvider(targets: readonly TargetStatus[]) {
  const byProvider = new Map<string, { models: string[]; downForMs: number; openForMs: number }>();
  for (const { provider, model, mode, openForMs = 0, downForMs = 0 } of targets) {
    if (mode === 'closed') continue;
    const known = byProvider.get(provider) ?? { models: [], downForMs: 0, openForMs };
    known.models.push(model);
    known.openForMs = Math.min(known.openForMs, openForMs);
    known.downForMs = Math.max(known.downForMs, downForMs);
    byProvider.set(provider, known);
  }
  return byProvider;
}
