/** A member's handle; only its set reads it. */
export interface Place<T> {
  value: T | undefined;
  before: Place<T> | undefined;
  after: Place<T> | undefined;
}

/**
 * An ordered set for per-request items. JavaScriptCore's `Set` and `Map` keep deleted entries in outgrown tables until
 * the next full collection (docs/internals/performance.md). Here a removed place references nothing.
 */
export class LinkedSet<T> {
  private first: Place<T> | undefined;
  private last: Place<T> | undefined;
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** Undefined if empty. */
  get oldest(): T | undefined {
    return this.first?.value;
  }

  /** Appends a value. Returns the handle for `remove`. */
  add(value: T): Place<T> {
    const place: Place<T> = { value, before: this.last, after: undefined };
    if (this.last === undefined) this.first = place;
    else this.last.after = place;
    this.last = place;
    this.count += 1;
    return place;
  }

  /** Once for each place: false if already removed. */
  remove(place: Place<T>): boolean {
    if (place.value === undefined) return false;
    const { before, after } = place;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.last = before;
    else after.before = before;
    place.value = undefined;
    place.before = undefined;
    place.after = undefined;
    this.count -= 1;
    return true;
  }

  /** Insertion order; allows removals and additions during iteration. */
  *[Symbol.iterator](): Generator<T> {
    yield* this.oldestOf(Number.POSITIVE_INFINITY);
  }

  /** The oldest entries up to a maximum; same guarantees. */
  *oldestOf(most: number): Generator<T> {
    const places: Place<T>[] = [];
    for (let place = this.first; place !== undefined && places.length < most; place = place.after) places.push(place);
    for (const { value } of places) if (value !== undefined) yield value;
  }
}
