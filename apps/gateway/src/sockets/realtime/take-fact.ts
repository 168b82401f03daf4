import type { VendorFact } from '@llm0/core/realtime/session-facts';
import type { SessionClock } from '../../pipeline/realtime/session-clock';
import type { SessionTurns } from '../../pipeline/realtime/session-turns';

/** Parts of a session that its bill depends on. */
interface Billed {
  readonly turns: SessionTurns;
  readonly clock: SessionClock | undefined;
}

/** Holds or books what a vendor's frame tells; undefined: nothing to wait for. Throws what ends the session. */
export function takeFact(fact: VendorFact, { turns, clock }: Billed): Promise<void> | undefined {
  switch (fact.type) {
    case 'began':
      return turns.begin(fact.turnId);
    case 'hearing':
      return turns.hearing.hear(fact.itemId);
    case 'settings':
      turns.configure(fact.settings);
      return undefined;
    case 'ended':
      turns.end(fact.turnId, fact.usage, fact.failure);
      return undefined;
    case 'words':
      turns.hearing.begin(fact.itemId);
      return undefined;
    case 'heard':
      turns.hearing.heard(fact.itemId, fact.usage, fact.failure);
      return undefined;
    case 'rejected':
      turns.reject(fact.eventId, fact.message);
      return undefined;
    case 'seconds':
      clock?.tell(fact.seconds, fact.isFinal);
      return undefined;
  }
}
