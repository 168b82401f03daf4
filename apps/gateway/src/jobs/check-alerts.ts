// A failed webhook sets the alert's `last_error` and retries at the next check. A failed or late measure leaves its
// alert unchanged; other alerts don't wait for it.
import { isMet } from '@llm0/core/alerts/condition';
import { type AlertNews, type AlertSubjects, webhookBodies } from '@llm0/core/alerts/webhook-bodies';
import { inTime } from '@llm0/core/async/in-time';
import type { TargetStatus } from '@llm0/core/routing/target-health';
import type { Db } from '@llm0/drizzle/client';
import {
  endFiring,
  forgetAlert,
  listUntoldFirings,
  listWatchedAlerts,
  openFiring,
  recordAlertCheck,
  recordAlertFailure,
  recordAlertState,
  recordFiring,
  recordFirstCheck,
  type StoredAlert,
  type StoredFiring,
} from '@llm0/drizzle/queries/alerts';
import type { Job, JobContext } from './job';
import {
  ALL_WELL,
  MEASURES,
  type MeasureContext,
  type MeasuredAlert,
  measureInTime,
  OFF_SQL,
  type StoreStates,
} from './measure-alert';
import { newsOf } from './providers-down';
import { type Telling, tellWebhooks } from './tell-webhooks';

/** Retry time for the webhook of a deleted alert. */
const LONGEST_FAREWELL_MS = 24 * 60 * 60_000;

export type PostWebhook = (url: string, body: object) => Promise<void>;

/** Message to a webhook about an alert. */
interface Change {
  readonly alert: StoredAlert;
  readonly isFiring: boolean;
  readonly value: number | null;
  readonly said: string;
  readonly details?: readonly string[] | undefined;
  readonly atMs: number;
}

/** Checks under way at once; each holds a connection of the pool. */
const MOST_AT_ONCE = 4;
/** What is found by then is told before the slower checks end. */
const PROMPT_MS = 2_000;

/** Compares measures with thresholds and notifies webhooks of changes. */
export function checkAlerts(
  postWebhook: PostWebhook,
  targets: () => readonly TargetStatus[] = () => [],
  stores: StoreStates = ALL_WELL,
): Job {
  return {
    name: 'check_alerts',
    intervalMs: 30_000,
    async run(context) {
      const changes: Change[] = [];
      const failures: unknown[] = [];
      const waiting = (await listWatchedAlerts(context.db)).toSorted((a, b) => rank(a) - rank(b));
      const worker = async () => {
        for (let alert = waiting.shift(); alert !== undefined; alert = waiting.shift()) {
          try {
            const change = await checkAlert({ ...context, targets, stores }, alert);
            if (change !== null) changes.push(change);
          } catch (error) {
            failures.push(error);
          }
        }
      };
      const checks = Promise.all(Array.from({ length: MOST_AT_ONCE }, worker));
      const messages: string[] = [];
      const tellFound = () =>
        tellWebhooks(changes.splice(0).map((change) => tellingOf(context.db, { change, postWebhook, messages }))).catch(
          (error) => failures.push(error),
        );
      await inTime(checks, PROMPT_MS, () => undefined);
      await Promise.all([tellFound(), checks.then(tellFound)]);
      if (failures.length > 0 && messages.length === 0) throw failures[0];
      return messages.length === 0 ? null : { message: messages.join('; ') };
    },
  };
}

/** Measures without SQL go first: they are quick, and tell of stores that hold up the others. */
const rank = ({ kind }: StoredAlert): number => Number(!OFF_SQL.has(kind));

/** Result of a check, for the alert's history and webhook. */
interface Finding {
  readonly isFiring: boolean;
  readonly value: number | null;
  readonly text: string;
  readonly details?: readonly string[];
  readonly subjects?: readonly string[];
  /** True if it fires for other subjects than at the last check. */
  readonly isAnother: boolean;
  /** The webhook knows of the firing, but not of these subjects. */
  readonly isUntold: boolean;
  /** Earlier messages named all subjects, so there is nothing to tell. */
  readonly isKnown?: boolean;
}

const NOTHING = { value: null, text: 'there is nothing to measure any more' } as const;

/** Compares what was measured with the firing that is open. */
async function judge(
  context: MeasureContext,
  alert: StoredAlert,
  measured: MeasuredAlert | typeof NOTHING,
): Promise<Finding> {
  const isFiring = isMet(alert, measured.value);
  const subjects = 'subjects' in measured ? measured.subjects : undefined;
  const open = isFiring && subjects !== undefined ? await openFiring(context.db, alert.id) : null;
  const isKnown = isFiring && 'fresh' in measured && measured.fresh === false;
  if (open === null || subjects === undefined)
    return { ...measured, isFiring, isAnother: false, isUntold: false, isKnown };
  if ('fresh' in measured) return { ...measured, ...freshOf(open, measured), isFiring, isKnown };
  const news = open.subjects === null ? '' : newsOf(open.subjects, subjects);
  if (news !== '') return { ...measured, text: `${measured.text}${news}`, isFiring, isAnother: true, isUntold: true };
  const isUntold = open.toldAtMs === null;
  // An untold change keeps its text: it lists the subjects that came and left.
  const text = isUntold && alert.isFiring ? open.text : measured.text;
  return { ...measured, text, isFiring, isAnother: false, isUntold };
}

/** Each subject is told once: an open firing that lacks a new one ends. */
function freshOf(open: StoredFiring, { subjects = [], fresh = false }: MeasuredAlert) {
  const isAnother = fresh && subjects.some((subject) => open.subjects?.includes(subject) !== true);
  return { isAnother, isUntold: fresh };
}

/** Updates the history. null: no notification. */
async function checkAlert(
  context: MeasureContext & Pick<JobContext, 'db'>,
  alert: StoredAlert,
): Promise<Change | null> {
  if (!alert.isActive) return endWatch(context, alert);
  // A later release on this data has kinds of its own.
  if (!Object.hasOwn(MEASURES, alert.kind)) return null;
  const measured = (await measureInTime(context, alert)) ?? NOTHING;
  const finding = await judge(context, alert, measured);
  const { isFiring, value, text } = finding;
  const atMs = context.nowMs();
  // The text of the finding may tell of changes; this one is of now.
  await recordAlertCheck(context.db, alert.id, { value, text: measured.text, atMs });
  if (isFiring) await recordFiring(context.db, alert.id, { ...finding, atMs });
  else await endFiring(context.db, alert.id, atMs);
  if (alert.changedAtMs === null && !isFiring) await recordFirstCheck(context.db, alert.id, atMs);
  if (finding.isKnown === true || (isFiring === alert.isFiring && !finding.isUntold)) return null;
  // A muted alert doesn't notify its start; a notified start always gets its end.
  if (isFiring && (alert.mutedUntilMs ?? 0) > atMs) return null;
  const said = `${isFiring ? 'Alert' : 'Resolved'}: ${alert.name}: ${text}`;
  return { alert, isFiring, value, said, details: finding.details, atMs };
}

/** A disabled alert notifies the end of a notified firing; a deleted one then disappears. */
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
  /** Collects the delivered messages. */
  readonly messages: string[];
}

function tellingOf(db: Db, { change, postWebhook, messages }: TellingNeeds): Telling {
  const { alert, isFiring, value, said, details, atMs } = change;
  const event = isFiring ? 'alert_firing' : 'alert_resolved';
  return {
    url: alert.webhookUrl,
    failedBefore: alert.lastError !== null,
    tell: async () => {
      const news = { event, text: said, ...(details && { details }), value, atMs } as const;
      const bodies = alertBodies(alert, news, await subjectsOf(db, alert));
      for (const body of bodies) await postWebhook(alert.webhookUrl, body);
    },
    onTold: async () => {
      await recordAlertState(db, alert, isFiring, atMs);
      if (alert.deletedAtMs !== null) await forgetAlert(db, alert.id);
      messages.push(said);
    },
    onFailure: (error) => recordAlertFailure(db, alert.id, error instanceof Error ? error.message : String(error)),
  };
}

/** Subjects of the open firing, and of firings ended since the last webhook message. */
async function subjectsOf(db: Db, alert: StoredAlert): Promise<AlertSubjects> {
  if (alert.webhookFormat !== 'pagerduty') return { firing: [], over: [] };
  const firings = await listUntoldFirings(db, alert);
  const firing = new Set(firings.flatMap((one) => (one.endedAtMs === null ? (one.subjects ?? []) : [])));
  const all = new Set(firings.flatMap((one) => one.subjects ?? []));
  return { firing: [...firing], over: [...all.difference(firing)] };
}

/** Webhook message in its own format. */
export function alertBodies(
  alert: StoredAlert,
  news: Omit<AlertNews, 'alert'>,
  subjects: AlertSubjects = { firing: [], over: [] },
): readonly object[] {
  const { webhookFormat: format, routingKey } = alert;
  return webhookBodies({ ...news, alert }, { format, routingKey }, subjects);
}
