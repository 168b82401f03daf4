/** A member's handle, maybe the member itself; only its set changes it. */
export interface Place<T> {
  /** Undefined once removed. */
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
    const place: Place<T> = { value: undefined, before: undefined, after: undefined };
    this.append(place, value);
    return place;
  }

  /** Appends a value at a place of its own, which may have been removed before. */
  append(place: Place<T>, value: T): void {
    if (place.value !== undefined) this.remove(place);
    place.value = value;
    place.before = this.last;
    if (this.last === undefined) this.first = place;
    else this.last.after = place;
    this.last = place;
    this.count += 1;
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

interface Box<V> {
  value: V | undefined;
}

/** A map for per-request values: it releases a deleted value at once (see `LinkedSet`). */
export class ReleasingMap<K, V> {
  private readonly boxes = new Map<K, Box<V>>();

  get size(): number {
    return this.boxes.size;
  }

  has(key: K): boolean {
    return this.boxes.has(key);
  }

  get(key: K): V | undefined {
    return this.boxes.get(key)?.value;
  }

  /** Replaces the value in its place. */
  set(key: K, value: V): void {
    const box = this.boxes.get(key);
    if (box === undefined) this.boxes.set(key, { value });
    else box.value = value;
  }

  delete(key: K): boolean {
    const box = this.boxes.get(key);
    if (box === undefined) return false;
    box.value = undefined;
    return this.boxes.delete(key);
  }

  clear(): void {
    for (const box of this.boxes.values()) box.value = undefined;
    this.boxes.clear();
  }

  /** Insertion order. */
  *values(): Generator<V> {
    for (const box of this.boxes.values()) if (box.value !== undefined) yield box.value;
  }

  *[Symbol.iterator](): Generator<[K, V]> {
    for (const [key, box] of this.boxes) if (box.value !== undefined) yield [key, box.value];
  }
}
