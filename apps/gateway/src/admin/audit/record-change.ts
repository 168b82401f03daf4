import type { Db } from '@llm0/drizzle/client';
import { type AuditEntry, addAuditEntry } from '@llm0/drizzle/queries/access/audit-trail';
import type { Actor } from '../admin-services';

/** What a change was, besides who made it; `result` is handed through. */
export interface Change<T> extends Omit<AuditEntry, 'actor'> {
  readonly result: T;
}

/** Runs a change and its audit row in one transaction: both are kept, or neither. */
export function recordChange<T>(db: Db, actor: Actor, work: (tx: Db) => Promise<Change<T>>): Promise<T> {
  return db.transaction(async (tx) => {
    const { result, ...entry } = await work(tx);
    await addAuditEntry(tx, { ...entry, actor: actor.name });
    return result;
  });
}
