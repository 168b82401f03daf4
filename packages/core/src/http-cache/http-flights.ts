import type { StoredAnswer } from './stored-answer';

/** One answer on its way, that others wait for. Call `end` on every path, with what was kept of it. */
export interface LeadFlight {
  end(answer?: StoredAnswer): void;
}

type Outcome = StoredAnswer | undefined;

const MAX_FLIGHTS = 10_000;

/** Answers under way by the key they are kept under: who asks for one that is fetched already waits for it. */
export class HttpFlights {
  private readonly flights = new Map<string, Promise<Outcome>>();

  /** What comes of the flight under way; undefined where there is none. */
  follow(key: string): Promise<Outcome> | undefined {
    return this.flights.get(key);
  }

  lead(key: string): LeadFlight {
    if (this.flights.size >= MAX_FLIGHTS || this.flights.has(key)) return NOBODY_FOLLOWS;
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.flights.set(key, promise);
    return {
      end: (answer) => {
        if (this.flights.get(key) === promise) this.flights.delete(key);
        resolve(answer);
      },
    };
  }

  get size(): number {
    return this.flights.size;
  }
}

export const NOBODY_FOLLOWS: LeadFlight = { end: () => {} };
