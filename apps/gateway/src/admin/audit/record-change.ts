import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { noteManaged } from '@llm0/drizzle/queries/access/applies';
import { type AuditEntry, addAuditEntry } from '@llm0/drizzle/queries/access/audit-trail';
import { sqlState } from '@llm0/drizzle/sql-state';
import type { Actor } from '../admin-services';
import { ChangedMeanwhile, entityTag, namesTag } from './entity-tag';

/** Description of a change; `result` is passed through. */
export interface Change<T> extends Omit<AuditEntry, 'actor'> {
  readonly result: T;
}

/**
 * Runs a change and its audit row in one transaction. With `If-Match`, throws `ChangedMeanwhile` if the row differs or
 * changes concurrently. An apply without its lease changes nothing.
 */
export async function recordChange<T>(db: Db, actor: Actor, work: (tx: Db) => Promise<Change<T>>): Promise<T> {
  const { ifMatch } = actor;
  try {
    return await db.transaction(
      async (tx) => {
        const { result, ...entry } = await work(tx);
        if (ifMatch !== undefined) refuseUnlessMatch(ifMatch, entry.before);
        const noted = { ...entry, actor: actor.name };
        await addAuditEntry(tx, noted);
        if (!(await noteManaged(tx, noted, actor.apply))) throw leaseLost();
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

/** SQL state of a serialization failure. */
const CHANGED_AT_ONCE = '40001';

const leaseLost = () =>
  new GatewayError('conflict', 'This apply has ended. Nothing was changed; run it again.', { param: 'X-LLM0-Apply' });

function refuseUnlessMatch(ifMatch: string, before: unknown): void {
  const json = before === undefined || before === null ? null : JSON.stringify(before);
  if (json === null || !namesTag(ifMatch, entityTag(json))) throw new ChangedMeanwhile(json);
}
