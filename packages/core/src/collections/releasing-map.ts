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
