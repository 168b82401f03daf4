import type { JsonValue } from '@llm0/core/chat/json';
import { and, eq, sql } from 'drizzle-orm';
import type { Db } from '../client';
import { settings } from '../schema/operations';

/** undefined when never set. */
export async function getSetting(db: Db, key: string): Promise<JsonValue | undefined> {
  // Text, because drizzle's jsonb would parse a JSON string such as "12" into a number.
  const [row] = await db
    .select({ json: sql<string>`${settings.value}::text` })
    .from(settings)
    .where(eq(settings.key, key));
  return row === undefined ? undefined : (JSON.parse(row.json) as JsonValue);
}

export async function putSetting(db: Db, key: string, value: JsonValue): Promise<void> {
  const json = toJsonb(value);
  await db
    .insert(settings)
    .values({ key, value: json })
    .onConflictDoUpdate({ target: settings.key, set: { value: json, updatedAtMs: sql`now()` } });
}

/** False if it wasn't set or lacks the expected value. */
export async function deleteSetting(db: Db, key: string, holding: JsonValue = {}): Promise<boolean> {
  const isMeant = and(eq(settings.key, key), sql`${settings.value} @> ${toJsonb(holding)}`);
  return (await db.delete(settings).where(isMeant).returning({ key: settings.key })).length > 0;
}

/** Sets a missing value; returns the current one, so that racing gateways agree. */
export async function putSettingOnce(db: Db, key: string, value: JsonValue): Promise<JsonValue> {
  const inserted = await db
    .insert(settings)
    .values({ key, value: toJsonb(value) })
    .onConflictDoNothing()
    .returning({ key: settings.key });
  if (inserted.length > 0) return value;
  const existing = await getSetting(db, key);
  return existing === undefined ? value : existing;
}

/** Takes a lock until the transaction ends. */
export async function lockUntilCommit(tx: Db, lock: number): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${lock})`);
}

/** Drizzle would write null as SQL's null. */
const toJsonb = (value: JsonValue) => sql`${JSON.stringify(value)}::jsonb`;
