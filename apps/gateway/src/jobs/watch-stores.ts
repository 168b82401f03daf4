// Without a writable Postgres, there is no leader and no storage. The last leader notifies from memory and writes
// afterwards; the alert job then reports the end.
import { isMet } from '@llm0/core/alerts/condition';
import { inTime } from '@llm0/core/async/in-time';
import { interruptibleSleep } from '@llm0/core/async/interruptible-sleep';
import type { HotStore } from '@llm0/core/limits/hot-store';
import type { Db } from '@llm0/drizzle/client';
import { listWatchedAlerts, recordAlertState, recordFiring, type StoredAlert } from '@llm0/drizzle/queries/alerts';
import { alertBodies, type PostWebhook } from './check-alerts';
import { measureInTime, type StoreStates } from './measure-alert';

const HEALTH_MS = 1000;
const LOOK_MS = 5_000;
/** Postgres that hangs at the bookkeeping is away at the next look. */
const REST_MS = 5_000;

export interface StoreWatchNeeds {
  readonly db: Db;
  readonly hotStore: Pick<HotStore, 'health' | 'depth'>;
  /** Throws when Postgres does not answer, or takes no changes. */
  readonly ping: () => Promise<unknown>;
  readonly nowMs: () => number;
  readonly postWebhook: PostWebhook;
  /** True if this process checks the alerts. */
  readonly leads: () => boolean;
}

interface StoreNeeds extends Pick<StoreWatchNeeds, 'hotStore' | 'ping'> {
  /** Why ClickHouse takes no rows of the log; undefined while it does. */
  readonly logProblem?: () => Promise<string | undefined>;
}

/** State of the stores, within a second. */
export function readStores({ hotStore, ping, logProblem }: StoreNeeds): StoreStates {
  const late = () => 'no answer within 1 s';
  const failed = (error: unknown) => (error instanceof Error ? error.message : String(error));
  const postgres = () =>
    inTime(
      ping().then(() => undefined, failed),
      HEALTH_MS,
      late,
    );
  const store = async () => {
    const { ok, detail } = await hotStore.health();
    return ok ? undefined : (detail ?? 'not reachable');
  };
  return {
    postgres,
    async away() {
      const [hot, database, log] = await Promise.all([
        inTime(store().catch(failed), HEALTH_MS, late),
        postgres(),
        // Without Postgres, nothing is known of it.
        inTime(logProblem?.().catch(() => undefined) ?? Promise.resolve(undefined), HEALTH_MS, () => undefined),
      ]);
      return [
        ...(hot === undefined ? [] : [`the hot store (${hot})`]),
        ...(database === undefined ? [] : [`Postgres (${database})`]),
        ...(log === undefined ? [] : [`ClickHouse (${log})`]),
      ];
    },
    depth: () =>
      inTime(hotStore.depth(), HEALTH_MS, () => {
        throw new Error('the hot store does not tell its queue within 1 s');
      }),
  };
}

interface Told {
  readonly alert: StoredAlert;
  readonly value: number;
  readonly text: string;
  readonly atMs: number;
}

/** Until it is stopped. */
export async function watchStores(needs: StoreWatchNeeds, stopped: AbortSignal): Promise<void> {
  const watch = new StoreWatch(needs);
  while (!stopped.aborted) {
    await watch.look();
    await interruptibleSleep(LOOK_MS, stopped);
  }
}

export class StoreWatch {
  private alerts: readonly StoredAlert[] = [];
  private led = false;
  private resting: Promise<void> | undefined;
  private readonly told = new Map<string, Told>();

  constructor(private readonly needs: StoreWatchNeeds) {}

  /** Never throws: the next look retries. */
  async look(): Promise<void> {
    const stores = readStores(this.needs);
    if ((await stores.postgres()) === undefined) {
      this.resting ??= this.rest()
        .catch(() => {})
        .finally(() => {
          this.resting = undefined;
        });
      return inTime(this.resting, REST_MS, () => {});
    }
    if (!this.led) return;
    await Promise.all(this.alerts.map((alert) => this.tell(alert, stores).catch(() => {})));
  }

  private async rest(): Promise<void> {
    const { db, leads } = this.needs;
    this.led = leads();
    for (const { alert, value, text, atMs } of this.told.values()) {
      await recordFiring(db, alert.id, { value, text, atMs, isAnother: false });
      await recordAlertState(db, alert, true, atMs);
      this.told.delete(alert.id);
    }
    if (!this.led) return;
    const watched = await listWatchedAlerts(db);
    this.alerts = watched.filter(({ kind, isActive }) => isActive && (kind === 'store_down' || kind === 'log_queue'));
  }

  private async tell(alert: StoredAlert, stores: StoreStates): Promise<void> {
    const { nowMs, postWebhook, db } = this.needs;
    const atMs = nowMs();
    if (alert.isFiring || this.told.has(alert.id) || (alert.mutedUntilMs ?? 0) > atMs) return;
    const measured = await measureInTime({ db, nowMs, targets: () => [], stores }, alert);
    if (measured === null || !isMet(alert, measured.value)) return;
    const { value, text } = measured;
    const news = { event: 'alert_firing', text: `Alert: ${alert.name}: ${text}`, value, atMs } as const;
    for (const body of alertBodies(alert, news)) await postWebhook(alert.webhookUrl, body);
    this.told.set(alert.id, { alert, value, text, atMs });
  }
}
