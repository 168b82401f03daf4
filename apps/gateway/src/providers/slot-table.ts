import type { TurnQueue } from '@llm0/core/limits/turn-queue';
import type { Peers } from '@llm0/core/routing/places/peers';
import { placeLane, Slots } from '@llm0/core/routing/places/slots';
import { type KeyRing, type RingKey, takeSlots } from '@llm0/providers/transport/key-ring';
import type { ConnectedProvider } from '../services/contract';

/** Places for concurrent requests at providers and with keys; they outlive changes of the tables. */
export class SlotTable {
  private readonly slots = new Map<string, Slots>();

  constructor(
    private readonly peers: Peers,
    private readonly turns: Pick<TurnQueue, 'size' | 'freed'>,
  ) {}

  /** `name`: a provider's, or a key's id. undefined without a limit. */
  find(name: string, limit: number | null | undefined): Slots | undefined {
    if (limit == null) return undefined;
    this.peers.isNeeded = true;
    const slots = this.slots.getOrInsertComputed(name, () => new Slots(this.peers, limit));
    slots.limit = limit;
    return slots;
  }

  /** The part of a connection that takes places; empty where nothing is limited. */
  limitsOf(
    name: string,
    limit: number | null | undefined,
    { ring, keys }: Keyed,
  ): Pick<ConnectedProvider, 'takeSlots'> {
    const provider = this.find(name, limit);
    if (provider === undefined && ring.every(({ slots }) => slots === undefined)) return {};
    const lane = placeLane(name);
    const onFree = () => {
      if (this.turns.size > 0) this.turns.freed(lane, 0);
    };
    return { takeSlots: () => takeSlots(provider, keys, onFree) };
  }
}

interface Keyed {
  readonly ring: readonly RingKey[];
  readonly keys: KeyRing | undefined;
}
