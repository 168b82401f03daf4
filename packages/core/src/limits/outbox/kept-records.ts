import type { Place } from '../../collections/linked-set';
import type { Settlement } from '../hot-store';
import type { CommitId } from '../redis/keys';

/** Entries of one chunk. */
const ROWS = 512;
const CHUNK_BYTES = 512 * 1024;

interface Chunk {
  readonly bytes: Uint8Array;
  /** End of each record in `bytes`, which is the start of the next. */
  readonly ends: Uint32Array;
  /** The two numbers of each entry's id. */
  readonly ms: Float64Array;
  readonly sequence: Float64Array;
  readonly inFile: Uint8Array;
  /** Requests by row, for entries whose record is in the file only. */
  readonly filed: Map<number, string>;
  rows: number;
  dropped: number;
  /** Used bytes. */
  end: number;
}

export type KeptRecord =
  | { readonly record: string; readonly inFile: boolean }
  /** Only the file has its record. */
  | { readonly requestId: string };

/** Dropped parameters. */
export interface Dropped {
  readonly bytes: number;
  /** Number of these that are also in the file. */
  readonly inFile: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Undrained records in the queue's order. Bytes, because thousands of short-lived strings and objects would be garbage
 * until a full collection.
 */
export class KeptRecords {
  private chunks: Chunk[] = [];
  /** Has room for another row. */
  private last: Chunk | undefined;
  private spare: Chunk | undefined;
  private entries = 0;

  get count(): number {
    return this.entries;
  }

  /** Returns how many bytes it takes. */
  add(entryId: string, record: string, inFile: boolean): number {
    let chunk = this.last ?? this.addChunk(CHUNK_BYTES);
    let { read, written } = encoder.encodeInto(record, chunk.bytes.subarray(chunk.end));
    if (read < record.length) {
      chunk = this.addChunk(3 * record.length);
      ({ read, written } = encoder.encodeInto(record, chunk.bytes));
    }
    chunk.end += written;
    this.addRow(chunk, entryId, inFile);
    return written;
  }

  addFiled(entryId: string, requestId: string): void {
    const chunk = this.last ?? this.addChunk(CHUNK_BYTES);
    chunk.filed.set(chunk.rows, requestId);
    this.addRow(chunk, entryId, true);
  }

  /** Drops the first entries before `firstEntryId` ('' = all), at most `most`. */
  dropBefore(firstEntryId: string, most: number): Dropped {
    const [firstMs, firstSequence] = firstEntryId === '' ? [Number.POSITIVE_INFINITY, 0] : numbersOf(firstEntryId);
    let bytes = 0;
    let inFile = 0;
    let left = most;
    for (let chunk = this.chunks[0]; chunk !== undefined && left > 0; chunk = this.chunks[0]) {
      for (; chunk.dropped < chunk.rows && left > 0; chunk.dropped++, left--, this.entries--) {
        const row = chunk.dropped;
        const ms = chunk.ms[row] ?? 0;
        if (ms > firstMs || (ms === firstMs && (chunk.sequence[row] ?? 0) >= firstSequence)) return { bytes, inFile };
        bytes += sizeOf(chunk, row);
        inFile += chunk.inFile[row] ?? 0;
      }
      if (chunk.dropped < chunk.rows || (chunk.rows < ROWS && this.chunks.length === 1)) break;
      this.chunks.shift();
      if (chunk.bytes.byteLength === CHUNK_BYTES) this.spare = chunk;
    }
    return { bytes, inFile };
  }

  *all(): Generator<KeptRecord> {
    for (const chunk of this.chunks) {
      for (let row = chunk.dropped; row < chunk.rows; row++) {
        const requestId = chunk.filed.get(row);
        const end = chunk.ends[row] ?? 0;
        if (requestId !== undefined) yield { requestId };
        else
          yield {
            record: decoder.decode(chunk.bytes.subarray(end - sizeOf(chunk, row), end)),
            inFile: chunk.inFile[row] === 1,
          };
      }
    }
  }

  /** A row that ends where its chunk does. */
  private addRow(chunk: Chunk, entryId: string, inFile: boolean): void {
    const row = chunk.rows++;
    const dash = entryId.indexOf('-');
    chunk.ends[row] = chunk.end;
    chunk.ms[row] = Number(entryId.slice(0, dash));
    chunk.sequence[row] = Number(entryId.slice(dash + 1));
    chunk.inFile[row] = inFile ? 1 : 0;
    this.entries += 1;
    if (chunk.rows === ROWS) this.last = undefined;
  }

  private addChunk(bytes: number): Chunk {
    const { spare } = this;
    const isUsual = bytes <= CHUNK_BYTES;
    const chunk = isUsual && spare !== undefined ? spare : newChunk(Math.max(bytes, CHUNK_BYTES));
    if (isUsual) this.spare = undefined;
    chunk.rows = 0;
    chunk.dropped = 0;
    chunk.end = 0;
    chunk.filed.clear();
    this.chunks.push(chunk);
    this.last = chunk;
    return chunk;
  }
}

const newChunk = (bytes: number): Chunk => ({
  bytes: new Uint8Array(bytes),
  ends: new Uint32Array(ROWS),
  ms: new Float64Array(ROWS),
  sequence: new Float64Array(ROWS),
  inFile: new Uint8Array(ROWS),
  filed: new Map(),
  rows: 0,
  dropped: 0,
  end: 0,
});

const sizeOf = (chunk: Chunk, row: number): number =>
  (chunk.ends[row] ?? 0) - (row === 0 ? 0 : (chunk.ends[row - 1] ?? 0));

/** Parts of a stream id, `milliseconds-sequence`. */
function numbersOf(entryId: string): readonly [ms: number, sequence: number] {
  const dash = entryId.indexOf('-');
  return [Number(entryId.slice(0, dash)), Number(entryId.slice(dash + 1))];
}

/** A settlement on its way to the store: a place among those that the store has not answered. */
export class Entry implements Place<Entry> {
  value: Entry | undefined;
  before: Place<Entry> | undefined;
  after: Place<Entry> | undefined;
  /** Last write to the store, by the monotonic clock. */
  onWireMs = 0;
  inFile = false;
  /** Commit of the first attempt. */
  sentIn: CommitId | undefined;
  /** Of the first attempt. */
  shard: number | undefined;
  /** Position in the queue. */
  queued: { readonly entryId: string } | undefined;

  constructor(
    readonly settlement: Settlement,
    readonly sentAtMs: number,
    /** The store may already have it, so look it up. */
    public doubtful: boolean,
  ) {}
}
