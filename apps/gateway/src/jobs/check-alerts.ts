// A webhook that cannot be told: written to the alert as `last_error`, and told again at the next check. A measure that takes too
// long or fails leaves its alert as it was; the others are checked all the same.
import { isMet } from '@llm0/core/alerts/condition';
import { type AlertNews, webhookBody } from '@llm0/core/alerts/webhook-bodies';
import type { TargetStatus } from '@llm0/core/routing/target-health';
import type { Db } from '@llm0/drizzle/client';
import {
  endFiring,
  forgetAlert,
  listWatchedAlerts,
  recordAlertFailure,
  recordAlertState,
  recordFiring,
  type StoredAlert,
} from '@llm0/drizzle/queries/alerts';
import type { Job, JobContext } from './job';
import { MEASURES, type MeasureContext } from './measure-alert';
import { type Telling, tellWebhooks } from './tell-webhooks';

/** So long a webhook that fails is told of an alert that was deleted. */
const LONGEST_FAREWELL_MS = 24 * 60 * 60_000;

type PostWebhook = (url: string, body: object) => Promise<void>;

/** What a webhook is to be told of an alert. */
interface Change {
  readonly alert: StoredAlert;
  readonly isFiring: boolean;
  readonly value: number | null;
  readonly said: string;
  readonly atMs: number;
}

/** Compares what is measured with every alert's threshold, and tells its webhook when it passes it either way. */
export function checkAlerts(postWebhook: PostWebhook, targets: () => readonly TargetStatus[] = () => []): Job {
  return {
    name: 'check_alerts',
    intervalMs: 30_000,
    async run(context) {
      const changes: Change[] = [];
      const failures: unknown[] = [];
      for (const alert of await listWatchedAlerts(context.db)) {
        try {
          const change = await checkAlert({ ...context, targets }, alert);
          if (change !== null) changes.push(change);
        } catch (error) {
          failures.push(error);
        }
      }
      const messages: string[] = [];
      const tellings = changes.map((change) => tellingOf(context.db, { change, postWebhook, messages }));
      await tellWebhooks(tellings).catch((error) => failures.push(error));
      if (failures.length > 0 && messages.length === 0) throw failures[0];
      return messages.length === 0 ? null : { message: messages.join('; ') };
    },
  };
}

/** Measures, and keeps the history. null: there is nothing to tell. */
async function checkAlert(
  context: MeasureContext & Pick<JobContext, 'db'>,
  alert: StoredAlert,
): Promise<Change | null> {
  if (!alert.isActive) return endWatch(context, alert);
  const measured = await MEASURES[alert.kind](context, alert);
  const value = measured?.value ?? null;
  const text = measured?.text ?? 'there is nothing to measure any more';
  const isFiring = isMet(alert, value);
  const atMs = context.nowMs();
  if (isFiring) await recordFiring(context.db, alert.id, { value, text, atMs });
  else await endFiring(context.db, alert.id, atMs);
  if (isFiring === alert.isFiring) return null;
  // Muted, what begins is not told; what was told to have begun is told to be over.
  if (isFiring && (alert.mutedUntilMs ?? 0) > atMs) return null;
  return { alert, isFiring, value, said: `${isFiring ? 'Alert' : 'Resolved'}: ${alert.name}: ${text}`, atMs };
}

/** Nobody watches any more: what was told to have begun is told to be over, then a deleted one is gone. */
async function endWatch({ db, nowMs }: Pick<JobContext, 'db' | 'nowMs'>, alert: StoredAlert): Promise<Change | null> {
  const { deletedAtMs } = alert;
  const atMs = nowMs();
  if (alert.isFiring && (deletedAtMs ?? atMs) > atMs - LONGEST_FAREWELL_MS) {
    const how = deletedAtMs === null ? 'switched off' : 'deleted';
    return { alert, isFiring: false, value: null, said: `Resolved: ${alert.name}: the alert was ${how}`, atMs };
  }
  if (deletedAtMs !== null) await forgetAlert(db, alert.id);
  return null;
}

interface TellingNeeds {
  readonly change: Change;
  readonly postWebhook: PostWebhook;
  /** What was told is added here. */
  readonly messages: string[];
}

function tellingOf(db: Db, { change, postWebhook, messages }: TellingNeeds): Telling {
  const { alert, isFiring, value, said, atMs } = change;
  const event = isFiring ? 'alert_firing' : 'alert_resolved';
  return {
    url: alert.webhookUrl,
    failedBefore: alert.lastError !== null,
    tell: () => postWebhook(alert.webhookUrl, bodyOf(alert, { event, text: said, value, atMs })),
    onTold: async () => {
      await recordAlertState(db, alert, isFiring, atMs);
      if (alert.deletedAtMs !== null) await forgetAlert(db, alert.id);
      messages.push(said);
    },
    onFailure: (error) => recordAlertFailure(db, alert.id, error instanceof Error ? error.message : String(error)),
  };
}

function bodyOf(alert: StoredAlert, news: Omit<AlertNews, 'alert'>): object {
  const { webhookFormat: format, routingKey } = alert;
  return webhookBody({ ...news, alert }, { format, routingKey });
}
