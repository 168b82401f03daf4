import { and, eq } from 'drizzle-orm';
import type { Db } from '../client';
import { type ALERT_KINDS, alerts } from '../schema/admin-access';
import { Rows, type Stored } from './rows';

export type AlertKind = (typeof ALERT_KINDS)[number];

export const alertRows = new Rows(alerts);
export type StoredAlert = Stored<typeof alertRows>;
export type AlertSettings = Pick<
  StoredAlert,
  'name' | 'kind' | 'threshold' | 'windowMinutes' | 'projectId' | 'webhookUrl' | 'isActive'
>;

export function listActiveAlerts(db: Db): Promise<readonly StoredAlert[]> {
  return alertRows.find(db, eq(alerts.isActive, true));
}

/** Writes down what the webhook was told; only where it still stands as before, so that two runs do not tell it twice. */
export async function recordAlertState(db: Db, alert: StoredAlert, isFiring: boolean, atMs: number): Promise<void> {
  await db
    .update(alerts)
    .set({ isFiring, changedAtMs: atMs, lastError: null })
    .where(and(eq(alerts.id, alert.id), eq(alerts.isFiring, alert.isFiring)));
}

export async function recordAlertFailure(db: Db, id: string, message: string): Promise<void> {
  await db
    .update(alerts)
    .set({ lastError: message.slice(0, 500) })
    .where(eq(alerts.id, id));
}
