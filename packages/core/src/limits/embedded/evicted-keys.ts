const BYTES = 1024 * 1024;
const BITS = 8 * BYTES;
/** Ten bits a key and four of them set: one foreign key in a hundred is taken for an evicted one. */
const MOST_KEYS = 800_000;
const BITS_A_KEY = 4;

/** Bloom filter of keys evicted before expiry: never denies one of them. */
export class EvictedKeys {
  private readonly bits = new Uint8Array(BYTES);
  private count = 0;
  private untilMs = 0;

  /** Latest expiry of the evicted keys. */
  get endMs(): number {
    return this.untilMs;
  }

  /** No more fit in: `clear`, and take every key for an evicted one until `endMs`. */
  get isFull(): boolean {
    return this.count >= MOST_KEYS;
  }

  add(key: string, { expiresAtMs, nowMs }: { readonly expiresAtMs: number; readonly nowMs: number }): void {
    if (this.count > 0 && this.untilMs <= nowMs) this.clear();
    const [start, step] = hashesOf(key);
    for (let i = 0; i < BITS_A_KEY; i++) {
      const bit = (start + i * step) % BITS;
      this.bits[bit >>> 3] = (this.bits[bit >>> 3] ?? 0) | (1 << (bit & 7));
    }
    this.count += 1;
    this.untilMs = Math.max(this.untilMs, expiresAtMs);
  }

  has(key: string, nowMs: number): boolean {
    if (this.untilMs <= nowMs) return false;
    const [start, step] = hashesOf(key);
    for (let i = 0; i < BITS_A_KEY; i++) {
      const bit = (start + i * step) % BITS;
      if (((this.bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
    }
    return true;
  }

  clear(): void {
    this.bits.fill(0);
    this.count = 0;
    this.untilMs = 0;
  }
}

const hashesOf = (key: string): readonly [start: number, step: number] => [
  Bun.hash.xxHash32(key),
  // Odd, so that no two of a key's bits fall together.
  (Bun.hash.murmur32v3(key) | 1) >>> 0,
];
