import { and, eq, sql } from 'drizzle-orm';
import type { Db } from '../client';
import { type ALERT_KINDS, alerts } from '../schema/admin-access';
import { afterCursor, newestFirst, type Page, type PageRequest, toPage } from './page';

export type AlertKind = (typeof ALERT_KINDS)[number];

export interface AlertSettings {
  readonly name: string;
  readonly kind: AlertKind;
  /** A share (0…1) for budgets and error rates, milliseconds for latency, USD for spend; unused for failed jobs. */
  readonly threshold: number;
  readonly windowMinutes: number;
  /** null = over all projects. */
  readonly projectId: string | null;
  readonly webhookUrl: string;
  readonly isActive: boolean;
}

export interface StoredAlert extends AlertSettings {
  readonly id: string;
  /** What the webhook was told last. */
  readonly isFiring: boolean;
  readonly changedAtMs: number | null;
  /** Why the webhook could not be told. */
  readonly lastError: string | null;
  readonly createdAtMs: number;
}

function toAlert(row: typeof alerts.$inferSelect): StoredAlert {
  const { createdAt, changedAt, updatedAt: _, ...alert } = row;
  return { ...alert, createdAtMs: createdAt.getTime(), changedAtMs: changedAt?.getTime() ?? null };
}

export async function createAlert(db: Db, settings: AlertSettings): Promise<StoredAlert> {
  const [row] = await db.insert(alerts).values(settings).returning();
  if (row === undefined) throw new Error('insert into alerts returned no row');
  return toAlert(row);
}

/** Newest first. */
export async function listAlerts(db: Db, page: PageRequest): Promise<Page<StoredAlert>> {
  const rows = await db
    .select()
    .from(alerts)
    .where(afterCursor(page, alerts.createdAt, alerts.id))
    .orderBy(...newestFirst(alerts.createdAt, alerts.id))
    .limit(page.limit + 1);
  return toPage(rows.map(toAlert), page.limit);
}

export async function listActiveAlerts(db: Db): Promise<readonly StoredAlert[]> {
  return (await db.select().from(alerts).where(eq(alerts.isActive, true))).map(toAlert);
}

export async function getAlert(db: Db, id: string): Promise<StoredAlert | null> {
  const [row] = await db.select().from(alerts).where(eq(alerts.id, id));
  return row === undefined ? null : toAlert(row);
}

/** null when there is no such alert. */
export async function updateAlert(db: Db, id: string, changes: Partial<AlertSettings>): Promise<StoredAlert | null> {
  const [row] = await db
    .update(alerts)
    .set({ ...changes, updatedAt: sql`now()` })
    .where(eq(alerts.id, id))
    .returning();
  return row === undefined ? null : toAlert(row);
}

/** False when there was none. */
export async function deleteAlert(db: Db, id: string): Promise<boolean> {
  return (await db.delete(alerts).where(eq(alerts.id, id)).returning({ id: alerts.id })).length > 0;
}

/** Writes down what the webhook was told; only where it still stands as before, so that two runs do not tell it twice. */
export async function recordAlertState(db: Db, alert: StoredAlert, isFiring: boolean, atMs: number): Promise<void> {
  await db
    .update(alerts)
    .set({ isFiring, changedAt: new Date(atMs), lastError: null })
    .where(and(eq(alerts.id, alert.id), eq(alerts.isFiring, alert.isFiring)));
}

export async function recordAlertFailure(db: Db, id: string, message: string): Promise<void> {
  await db
    .update(alerts)
    .set({ lastError: message.slice(0, 500) })
    .where(eq(alerts.id, id));
}
