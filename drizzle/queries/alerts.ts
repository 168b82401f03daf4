import type { AlertKind } from '@llm0/core/alerts/kinds';
import { and, eq, gte, inArray, isNotNull, isNull, max, or, sql } from 'drizzle-orm';
import type { Db } from '../client';
import { alertFirings, alerts } from '../schema/admin-access';
import { Rows, type Stored } from './rows';

export type { AlertKind };

export const alertRows = new Rows(alerts, { live: isNull(alerts.deletedAtMs) });
const rowsWithDeleted = new Rows(alerts);
export type StoredAlert = Stored<typeof alertRows>;
export type AlertSettings = Pick<
  StoredAlert,
  'name' | 'kind' | 'threshold' | 'windowMinutes' | 'projectId' | 'webhookUrl' | 'isActive'
> &
  Partial<Pick<StoredAlert, 'webhookFormat' | 'routingKey' | 'objective' | 'mutedUntilMs'>>;

export const firingRows = new Rows(alertFirings);
export type StoredFiring = Stored<typeof firingRows>;

/** Active alerts, and inactive ones with pending notifications or clean-up. */
export function listWatchedAlerts(db: Db): Promise<readonly StoredAlert[]> {
  return rowsWithDeleted.find(
    db,
    or(eq(alerts.isActive, true), eq(alerts.isFiring, true), isNotNull(alerts.deletedAtMs)),
  );
}

/** Hides the alert from everybody but the job, which deletes the row after the last notification. null without one. */
export function deleteAlert(db: Db, id: string, atMs: number): Promise<StoredAlert | null> {
  return alertRows.update(db, { id }, { deletedAtMs: atMs, isActive: false });
}

/** Deletes the row of a deleted alert after its last notification. */
export async function forgetAlert(db: Db, id: string): Promise<void> {
  await db.delete(alerts).where(and(eq(alerts.id, id), isNotNull(alerts.deletedAtMs)));
}

/** Records a notification only if the state is unchanged, so that two runs don't notify twice. */
export async function recordAlertState(db: Db, alert: StoredAlert, isFiring: boolean, atMs: number): Promise<void> {
  await db
    .update(alerts)
    .set({ isFiring, changedAtMs: atMs, lastError: null })
    .where(and(eq(alerts.id, alert.id), eq(alerts.isFiring, alert.isFiring)));
  if (isFiring) await db.update(alertFirings).set({ toldAtMs: atMs }).where(openFiringOf(alert.id));
}

/** From then on, an alert that doesn't fire is known to be quiet. */
export async function recordFirstCheck(db: Db, id: string, atMs: number): Promise<void> {
  await db
    .update(alerts)
    .set({ changedAtMs: atMs })
    .where(and(eq(alerts.id, id), isNull(alerts.changedAtMs)));
}

/** Result of the last check; its value and text are null where there was nothing to measure. */
export async function recordAlertCheck(
  db: Db,
  id: string,
  { value, text, atMs }: Pick<MeasuredFiring, 'value' | 'text' | 'atMs'>,
): Promise<void> {
  const checkedText = value === null ? null : text;
  await db.update(alerts).set({ checkedAtMs: atMs, checkedValue: value, checkedText }).where(eq(alerts.id, id));
}

export async function recordAlertFailure(db: Db, id: string, message: string): Promise<void> {
  await db
    .update(alerts)
    .set({ lastError: message.slice(0, 500) })
    .where(eq(alerts.id, id));
}

const openFiringOf = (alertId: string) => and(eq(alertFirings.alertId, alertId), isNull(alertFirings.endedAtMs));

export interface MeasuredFiring {
  readonly value: number | null;
  readonly text: string;
  readonly atMs: number;
  /** Sorted; absent for kinds that name nothing. */
  readonly subjects?: readonly string[];
  /** Other subjects than those of the open firing, which ends. */
  readonly isAnother?: boolean;
}

const setMet = (db: Db, alertId: string, isMet: boolean) =>
  db
    .update(alerts)
    .set({ isMet })
    .where(and(eq(alerts.id, alertId), eq(alerts.isMet, !isMet)));

/** The open firing; null without one. */
export async function openFiring(db: Db, alertId: string): Promise<StoredFiring | null> {
  const [open] = await firingRows.find(db, openFiringOf(alertId));
  return open ?? null;
}

export interface FiringNow {
  /** null while it doesn't fire. */
  readonly open: StoredFiring | null;
  /** Last message that it fires; null without one. */
  readonly toldAtMs: number | null;
}

/** What each of these alerts does, by id. */
export async function listFiringNow(
  db: Db,
  of: readonly Pick<StoredAlert, 'id'>[],
): Promise<ReadonlyMap<string, FiringNow>> {
  const ids = of.map(({ id }) => id);
  const { alertId, endedAtMs, toldAtMs } = alertFirings;
  const isOne = inArray(alertId, ids);
  const open = await firingRows.find(db, and(isOne, isNull(endedAtMs)));
  const told = await db
    .select({ alertId, toldAtMs: max(toldAtMs) })
    .from(alertFirings)
    .where(isOne)
    .groupBy(alertId);
  const toldAt = new Map(told.map((one) => [one.alertId, one.toldAtMs]));
  const openOf = new Map(open.map((one) => [one.alertId, one]));
  return new Map(ids.map((id) => [id, { open: openOf.get(id) ?? null, toldAtMs: toldAt.get(id) ?? null }]));
}

/** The open firing, and those that ended since the last notification. */
export function listUntoldFirings(db: Db, { id, changedAtMs }: StoredAlert): Promise<readonly StoredFiring[]> {
  const { alertId, endedAtMs } = alertFirings;
  return firingRows.find(db, and(eq(alertId, id), or(isNull(endedAtMs), gte(endedAtMs, changedAtMs ?? 0))));
}

/** All that messages of the alert have named. */
export async function listToldSubjects(db: Db, alertId: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectDistinct({ subject: sql<string>`unnest(${alertFirings.subjects})` })
    .from(alertFirings)
    .where(and(eq(alertFirings.alertId, alertId), isNotNull(alertFirings.toldAtMs)));
  return new Set(rows.map(({ subject }) => subject));
}

/** Starts or continues a firing. */
export async function recordFiring(db: Db, alertId: string, firing: MeasuredFiring): Promise<void> {
  const { value, text, atMs, subjects = null, isAnother } = firing;
  await setMet(db, alertId, true);
  if (isAnother) await db.update(alertFirings).set({ endedAtMs: atMs }).where(openFiringOf(alertId));
  const highest = sql`greatest(${alertFirings.highest}, excluded.highest)`;
  const named = sql`coalesce(${alertFirings.subjects}, excluded.subjects)`;
  await db
    .insert(alertFirings)
    .values({ alertId, createdAtMs: atMs, value, highest: value, text, subjects: subjects && [...subjects] })
    .onConflictDoUpdate({
      target: alertFirings.alertId,
      targetWhere: sql`${alertFirings.endedAtMs} is null`,
      set: { highest, subjects: named },
      setWhere: sql`(${alertFirings.highest}, ${alertFirings.subjects}) is distinct from (${highest}, ${named})`,
    });
}

/** Ends a firing, because the condition or the alert ended. */
export async function endFiring(db: Db, alertId: string, atMs: number): Promise<void> {
  await setMet(db, alertId, false);
  await db.update(alertFirings).set({ endedAtMs: atMs }).where(openFiringOf(alertId));
}
