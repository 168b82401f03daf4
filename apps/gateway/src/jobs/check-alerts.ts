// A webhook that cannot be told: written to the alert as `last_error`, and told again at the next check. A measure that takes too
// long or fails leaves its alert as it was; the others are checked all the same.
import { isMet } from '@llm0/core/alerts/condition';
import { type AlertNews, webhookBody } from '@llm0/core/alerts/webhook-bodies';
import type { TargetStatus } from '@llm0/core/routing/target-health';
import {
  endFiring,
  listActiveAlerts,
  recordAlertFailure,
  recordAlertState,
  recordFiring,
  type StoredAlert,
} from '@llm0/drizzle/queries/alerts';
import type { Job, JobContext } from './job';
import { MEASURES, type MeasureContext } from './measure-alert';

type PostWebhook = (url: string, body: object) => Promise<void>;

/** Compares what is measured with every alert's threshold, and tells its webhook when it passes it either way. */
export function checkAlerts(postWebhook: PostWebhook, targets: () => readonly TargetStatus[] = () => []): Job {
  return {
    name: 'check_alerts',
    intervalMs: 30_000,
    async run(context) {
      const messages: string[] = [];
      const failures: unknown[] = [];
      for (const alert of await listActiveAlerts(context.db)) {
        try {
          const message = await checkAlert({ ...context, targets }, alert, postWebhook);
          if (message !== null) messages.push(message);
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0 && messages.length === 0) throw failures[0];
      return messages.length === 0 ? null : { message: messages.join('; ') };
    },
  };
}

async function checkAlert(
  context: MeasureContext & Pick<JobContext, 'db'>,
  alert: StoredAlert,
  postWebhook: PostWebhook,
): Promise<string | null> {
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
  const said = `${isFiring ? 'Alert' : 'Resolved'}: ${alert.name}: ${text}`;
  const event = isFiring ? 'alert_firing' : 'alert_resolved';
  try {
    await postWebhook(alert.webhookUrl, bodyOf(alert, { event, text: said, value, atMs }));
  } catch (error) {
    await recordAlertFailure(context.db, alert.id, error instanceof Error ? error.message : String(error));
    return null;
  }
  await recordAlertState(context.db, alert, isFiring, atMs);
  return said;
}

function bodyOf(alert: StoredAlert, news: Omit<AlertNews, 'alert'>): object {
  const { webhookFormat: format, routingKey } = alert;
  return webhookBody({ ...news, alert }, { format, routingKey });
}
