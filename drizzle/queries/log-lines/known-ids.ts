/** Bytes of an id. */
export const ID_BYTES = 16;
/** Ids of a generation: two of them take 64 MB at most. */
const MOST_IDS = 1_000_000;
const WORDS = 4;
const FIRST_SLOTS = 1 << 12;

/** Ids in 32 bytes each. */
class IdTable {
  size = 0;
  private words = new Uint32Array(FIRST_SLOTS * WORDS);

  /** Of an id's bytes in `view`. */
  add(view: DataView, at: number): void {
    if (2 * (this.size + 1) > this.words.length / WORDS) this.grow();
    const slot = this.slotOf(
      view.getUint32(at),
      view.getUint32(at + 4),
      view.getUint32(at + 8),
      view.getUint32(at + 12),
    );
    if (this.isTaken(slot)) return;
    for (let word = 0; word < WORDS; word++) this.words[slot + word] = view.getUint32(at + 4 * word);
    this.size += 1;
  }

  has(view: DataView): boolean {
    return this.isTaken(this.slotOf(view.getUint32(0), view.getUint32(4), view.getUint32(8), view.getUint32(12)));
  }

  /** Where the words are, or would be. Ids end in random bits. */
  private slotOf(a: number, b: number, c: number, d: number): number {
    const { words } = this;
    const mask = words.length / WORDS - 1;
    for (let nth = (d ^ Math.imul(b, 0x9e3779b1)) & mask; ; nth = (nth + 1) & mask) {
      const slot = nth * WORDS;
      if (!this.isTaken(slot)) return slot;
      if (words[slot] === a && words[slot + 1] === b && words[slot + 2] === c && words[slot + 3] === d) return slot;
    }
  }

  private isTaken(slot: number): boolean {
    const { words } = this;
    return words[slot] !== 0 || words[slot + 1] !== 0 || words[slot + 2] !== 0 || words[slot + 3] !== 0;
  }

  private grow(): void {
    const old = this.words;
    this.words = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += WORDS) {
      const [a = 0, b = 0, c = 0, d = 0] = old.subarray(at, at + WORDS);
      if ((a | b | c | d) !== 0) this.words.set([a, b, c, d], this.slotOf(a, b, c, d));
    }
  }
}

/** The first batch of those that are known. */
export interface KnownSince {
  readonly seq: number;
  readonly storedAtMs: number;
}

interface Generation {
  readonly since: KnownSince;
  readonly ids: IdTable;
}

const idBytes = Buffer.alloc(ID_BYTES);
const idView = new DataView(idBytes.buffer, idBytes.byteOffset, ID_BYTES);

/** Where pairs of digits stand in an id's text. */
const PAIRS = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;
/** Value of a hexadecimal digit by its code. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0);

/** Writes an id in its text form. */
export function writeId(bytes: Uint8Array, id: string, at: number): void {
  for (let nth = 0; nth < ID_BYTES; nth++) {
    const pair = PAIRS[nth] ?? 0;
    bytes[at + nth] = ((DIGITS[id.charCodeAt(pair)] ?? 0) << 4) | (DIGITS[id.charCodeAt(pair + 1)] ?? 0);
  }
}

/** Ids of the last batches without rows in Postgres: every one since a batch, in about the last two million. */
export class KnownIds {
  /** The last batch in it. */
  lastSeq = 0;
  private generations: Generation[] = [];

  /** `sinceMs`: when the first batch may have been stored. */
  constructor(
    readonly sinceMs: number,
    private readonly mostIds = MOST_IDS,
  ) {}

  /** Undefined without any. */
  get since(): KnownSince | undefined {
    return this.generations[0]?.since;
  }

  has(id: string): boolean {
    writeId(idBytes, id, 0);
    return this.generations.some(({ ids }) => ids.has(idView));
  }

  /** The next batch. `stride`: bytes from one id to the next. */
  add(batch: KnownSince, entries: Uint8Array, stride: number): void {
    let last = this.generations.at(-1);
    if (last === undefined || last.ids.size >= this.mostIds) {
      last = { since: batch, ids: new IdTable() };
      this.generations = [...this.generations.slice(-1), last];
    }
    const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
    for (let at = 0; at + stride <= entries.byteLength; at += stride) last.ids.add(view, at);
    this.lastSeq = batch.seq;
  }
}
