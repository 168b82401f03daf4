import type { Peers } from './peers';

/** Places for concurrent requests, at a provider or with one of its keys. */
export class Slots {
  private taken = 0;

  constructor(
    private readonly peers: Pick<Peers, 'shareOf'>,
    /** Of all processes together. A lower one lets requests under way finish. */
    public limit: number,
  ) {}

  get isFull(): boolean {
    return this.taken >= this.peers.shareOf(this.limit);
  }

  tryTake(): boolean {
    if (this.isFull) return false;
    this.taken += 1;
    return true;
  }

  free(): void {
    this.taken -= 1;
  }
}

/** Places of one attempt: at its provider, and with the key that it uses. */
export class TakenSlots {
  private key: Slots | undefined;
  private hasEnded = false;

  constructor(
    /** Taken already. */
    private readonly provider: Slots | undefined,
    /** Called when a place became free. */
    private readonly onFree?: () => void,
  ) {}

  /** Moves to a key; false if that has no place left. */
  useKey(slots: Slots | undefined): boolean {
    if (this.hasEnded || slots === this.key) return true;
    if (slots?.tryTake() === false) return false;
    const left = this.key;
    this.key = slots;
    if (left !== undefined) {
      left.free();
      this.onFree?.();
    }
    return true;
  }

  /** Frees all of them, once. */
  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.provider?.free();
    this.key?.free();
    this.onFree?.();
  }
}

/** Lane of the requests that wait for a place at a provider. */
export const placeLane = (provider: string): string => `provider ${provider}`;
