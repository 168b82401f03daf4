import type { Held } from '@llm0/core/async/room';
import type { TakenSlots } from '@llm0/core/routing/places/slots';
import type { ConnectedProvider } from '../../services/contract';

/** Places for an attempt: those that its request waited for, if they are at this provider, else new ones. */
export function claimPlace(held: Held, connected: ConnectedProvider | undefined): TakenSlots | 'full' | undefined {
  const { place } = held;
  if (place === undefined || place.provider !== connected?.provider.name) return connected?.takeSlots?.();
  held.place = undefined;
  return place.slots;
}
