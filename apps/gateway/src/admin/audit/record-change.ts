import type { Db } from '@llm0/drizzle/client';
import { type AuditEntry, addAuditEntry } from '@llm0/drizzle/queries/access/audit-trail';
import { sqlState } from '@llm0/drizzle/sql-state';
import type { Actor } from '../admin-services';
import { ChangedMeanwhile, entityTag, namesTag } from './entity-tag';

/** Description of a change; `result` is passed through. */
export interface Change<T> extends Omit<AuditEntry, 'actor'> {
  readonly result: T;
}

/**
 * Runs a change and its audit row in one transaction: both are kept, or neither. Where the actor says of what it is a change
 * (`If-Match`), throws `ChangedMeanwhile` if that is not what was there, or if somebody changes it at the same moment.
 */
export async function recordChange<T>(db: Db, actor: Actor, work: (tx: Db) => Promise<Change<T>>): Promise<T> {
  const { ifMatch } = actor;
  try {
    return await db.transaction(
      async (tx) => {
        const { result, ...entry } = await work(tx);
        if (ifMatch !== undefined) refuseUnlessMatch(ifMatch, entry.before);
        await addAuditEntry(tx, { ...entry, actor: actor.name });
        return result;
      },
      // A row that was changed since the transaction began is then not changed again.
      ifMatch === undefined ? undefined : { isolationLevel: 'repeatable read' },
    );
  } catch (cause) {
    if (ifMatch !== undefined && sqlState(cause) === CHANGED_AT_ONCE) throw new ChangedMeanwhile(null);
    throw cause;
  }
}

/** As SQL calls a change of what another one changes. */
const CHANGED_AT_ONCE = '40001';

function refuseUnlessMatch(ifMatch: string, before: unknown): void {
  const json = before === undefined || before === null ? null : JSON.stringify(before);
  if (json === null || !namesTag(ifMatch, entityTag(json))) throw new ChangedMeanwhile(json);
}
