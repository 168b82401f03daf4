import { ReleasingMap } from '../collections/linked-set';
import { Flight, type Subscriber } from './flight';
import type { UpstreamCallUnderWay, UpstreamResponse } from './upstream-response';

/** SSE is many times longer than its text; multiple of the cache limit that late followers can read. */
const WIRE_FACTOR = 8;
const DEFAULT_KEPT_BYTES = 1024 * 1024;

/** Flights under way by cache key: identical questions asked at once reach the upstream once. */
export class FlightTable {
  private readonly open = new ReleasingMap<string, Flight>();
  readonly maxKeptBytes: number;

  /** `maxAnswerBytes`: the largest answer that the cache takes. */
  constructor(maxAnswerBytes = DEFAULT_KEPT_BYTES) {
    this.maxKeptBytes = WIRE_FACTOR * maxAnswerBytes;
  }

  /** Joins the flight of this key; undefined without one. Keys of different kinds of answers differ. */
  join<R extends UpstreamResponse = UpstreamResponse>(key: string): Subscriber<R> | undefined {
    return this.open.get(key)?.subscribe() as Subscriber<R> | undefined;
  }

  /** A flight that others may join by its key; without a key, nobody can. */
  start<R extends UpstreamResponse>(key: string | undefined, call: UpstreamCallUnderWay<R>): Subscriber<R> {
    const flight = new Flight(call, key, this);
    if (key !== undefined) this.open.set(key, flight as unknown as Flight);
    return flight.subscribe() as Subscriber<R>;
  }

  /** Nobody can join this flight any more. */
  close(key: string, flight: unknown): void {
    if (this.open.get(key) === flight) this.open.delete(key);
  }

  get size(): number {
    return this.open.size;
  }
}
