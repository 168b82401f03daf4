/** A member's place; only its set looks inside. */
export interface Place<T> {
  value: T | undefined;
  before: Place<T> | undefined;
  after: Place<T> | undefined;
}

/**
 * A set for what comes and goes with each request, oldest first. `Set` and `Map` of JavaScriptCore leave their outgrown tables
 * behind, and what stood in one lives until the next full collection, however long ago it was deleted; docs/internals/performance.md
 * has what that costs. Here a removed place holds on to nothing.
 */
export class LinkedSet<T> {
  private first: Place<T> | undefined;
  private last: Place<T> | undefined;
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** Undefined where there is none. */
  get oldest(): T | undefined {
    return this.first?.value;
  }

  /** Behind all others. Returns what `remove` wants. */
  add(value: T): Place<T> {
    const place: Place<T> = { value, before: this.last, after: undefined };
    if (this.last === undefined) this.first = place;
    else this.last.after = place;
    this.last = place;
    this.count += 1;
    return place;
  }

  /** Once for each place: false where it was removed before. */
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

  /** In the order they came. While it goes on, any may be removed and others added. */
  *[Symbol.iterator](): Generator<T> {
    yield* this.oldestOf(Number.POSITIVE_INFINITY);
  }

  /** The oldest, so many at most; as when walked whole. */
  *oldestOf(most: number): Generator<T> {
    const places: Place<T>[] = [];
    for (let place = this.first; place !== undefined && places.length < most; place = place.after) places.push(place);
    for (const { value } of places) if (value !== undefined) yield value;
  }
}
