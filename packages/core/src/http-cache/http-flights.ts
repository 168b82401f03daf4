import { ReleasingMap } from '../collections/linked-set';
import type { StoredAnswer } from './stored-answer';

/** An answer that others wait for. Call `end` on every path, with the stored answer if any. */
export interface LeadFlight {
  end(answer?: StoredAnswer): void;
}

type Outcome = StoredAnswer | undefined;

const MAX_FLIGHTS = 10_000;
/** Limit for flights that no request waits for. */
const MAX_IN_BACKGROUND = 64;

/** Running fetches by cache key: further requests wait for them. */
export class HttpFlights {
  private readonly flights = new ReleasingMap<string, Promise<Outcome>>();
  private inBackground = 0;

  /** Outcome of the flight under way; undefined without one. */
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

  /** Starts a background fetch; undefined if one is running, or at the limit. */
  leadInBackground(key: string): LeadFlight | undefined {
    if (this.inBackground >= MAX_IN_BACKGROUND || this.flights.has(key)) return undefined;
    const lead = this.lead(key);
    this.inBackground += 1;
    return {
      end: (answer) => {
        this.inBackground -= 1;
        lead.end(answer);
      },
    };
  }

  get size(): number {
    return this.flights.size;
  }
}

export const NOBODY_FOLLOWS: LeadFlight = { end: () => {} };
