// If the journal refuses entries, they stay in memory and are lost at the next start.
import { LinkedSet, type Place, ReleasingMap } from '../../collections/linked-set';
import { fitsPurge } from '../cache-purge';
import type { CachePurge, CacheWrite } from '../hot-store';
import { EvictedKeys } from './evicted-keys';
import { Journal } from './journal';

/** Bytes of an entry without value and key. */
const ENTRY_BYTES = 256;
/** Entries a write looks at: to look at all of them for each would take longer than all else it does. */
const SWEEP_MOST = 64;
const EVICT_MOST = 256;
/** Limits journal lines about evictions. */
const LOST_STEP_MS = 60_000;

interface CacheEntry {
  readonly key: string;
  readonly value: string;
  readonly projectId: string;
  readonly provider: string;
  readonly model: string;
  readonly storedAtMs: number;
  readonly expiresAtMs: number;
}

interface KeptEntry extends CacheEntry {
  readonly bytes: number;
  place: Place<KeptEntry> | undefined;
}

type CacheLine =
  | CacheEntry
  | { readonly drop: readonly string[] }
  | { readonly lost: string; readonly untilMs: number };

/** Exact-cache entries in memory, oldest first, in a journal of their own: with `write` they outlive a restart. */
export class EmbeddedCache {
  private readonly entries = new ReleasingMap<string, KeptEntry>();
  /** Oldest first: a map would walk over everything dropped from its front. */
  private readonly byAge = new LinkedSet<KeptEntry>();
  /** By project ('' = all): time until which unknown valid entries may be missing. */
  private readonly lostUntil = new Map<string, number>();
  private readonly evicted = new EvictedKeys();
  /** `lostUntil` of the next process, which doesn't know `evicted`. */
  private readonly lostAfterwards = new Map<string, number>();
  private readonly journal: Journal;
  private bytes = 0;

  constructor(private readonly options: { readonly dir: string; readonly maxBytes: number }) {
    const { dir, maxBytes } = options;
    this.journal = new Journal({
      dir,
      name: 'cache',
      compactBytes: 2 * maxBytes + 1024 * 1024,
      snapshot: () => this.snapshot(),
    });
  }

  open(nowMs: number): void {
    this.journal.open((line) => this.replay(JSON.parse(line) as CacheLine, nowMs));
  }

  find(key: string, nowMs: number): { readonly value: string; readonly storedAtMs: number } | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined || entry.expiresAtMs <= nowMs) return undefined;
    return { value: entry.value, storedAtMs: entry.storedAtMs };
  }

  /** May an entry of this key be missing that would still be valid? */
  isIncomplete(projectId: string, key: string, nowMs: number): boolean {
    if ((this.lostUntil.get(projectId) ?? 0) > nowMs || (this.lostUntil.get('') ?? 0) > nowMs) return true;
    return this.evicted.has(key, nowMs);
  }

  /** `projectId` '' = every project. */
  markLost(projectId: string, untilMs: number): void {
    if ((this.lostUntil.get(projectId) ?? 0) >= untilMs) return;
    this.lostUntil.set(projectId, untilMs);
    this.add({ lost: projectId, untilMs });
  }

  put(projectId: string, write: CacheWrite, nowMs: number): void {
    const { key, value, provider, model, ttlMs } = write;
    const entry = { key, value, projectId, provider, model, storedAtMs: nowMs, expiresAtMs: nowMs + ttlMs };
    this.add(entry);
    this.insert(entry, nowMs);
  }

  purge(filter: CachePurge, nowMs: number): number {
    const doomed: string[] = [];
    for (const entry of this.byAge) if (fitsPurge(entry, filter, nowMs)) doomed.push(entry.key);
    for (const key of doomed) this.drop(key);
    if (doomed.length > 0) this.add({ drop: doomed });
    return doomed.length;
  }

  stats(nowMs: number): { readonly entries: number; readonly bytes: number } {
    this.sweep(nowMs, Number.POSITIVE_INFINITY);
    return { entries: this.entries.size, bytes: this.bytes };
  }

  /** Writes new lines. Never throws. */
  write(): void {
    try {
      this.journal.write();
      this.journal.compactIfLarge();
    } catch {
      this.journal.takeBack(0);
    }
  }

  close(): void {
    this.write();
    this.journal.close();
  }

  private insert(entry: CacheEntry, nowMs: number): void {
    this.drop(entry.key);
    const bytes = Buffer.byteLength(entry.value) + Buffer.byteLength(entry.key) + ENTRY_BYTES;
    if (bytes > this.options.maxBytes) {
      this.noteEvicted(entry, nowMs);
      return;
    }
    const { key, value, projectId, provider, model, storedAtMs, expiresAtMs } = entry;
    const kept: KeptEntry = {
      key,
      value,
      projectId,
      provider,
      model,
      storedAtMs,
      expiresAtMs,
      bytes,
      place: undefined,
    };
    kept.place = this.byAge.add(kept);
    this.entries.set(key, kept);
    this.bytes += bytes;
    if (this.bytes > this.options.maxBytes) this.evict(entry, nowMs);
  }

  private evict(newest: CacheEntry, nowMs: number): void {
    this.sweep(nowMs, SWEEP_MOST);
    let evicted = 0;
    while (this.bytes > this.options.maxBytes && evicted++ < EVICT_MOST) {
      const { oldest } = this.byAge;
      if (oldest === undefined) break;
      this.drop(oldest.key);
      if (oldest.expiresAtMs > nowMs) this.noteEvicted(oldest, nowMs);
    }
    if (this.bytes <= this.options.maxBytes) return;
    this.drop(newest.key);
    this.noteEvicted(newest, nowMs);
  }

  private noteEvicted({ projectId, key, expiresAtMs }: CacheEntry, nowMs: number): void {
    this.evicted.add(key, { expiresAtMs, nowMs });
    if ((this.lostAfterwards.get(projectId) ?? 0) < expiresAtMs) {
      const untilMs = Math.ceil(expiresAtMs / LOST_STEP_MS) * LOST_STEP_MS;
      this.lostAfterwards.set(projectId, untilMs);
      this.add({ lost: projectId, untilMs });
    }
    if (!this.evicted.isFull) return;
    this.markLost('', this.evicted.endMs);
    this.evicted.clear();
  }

  /** Drops expired ones among the oldest entries. */
  private sweep(nowMs: number, most: number): void {
    for (const entry of this.byAge.oldestOf(most)) if (entry.expiresAtMs <= nowMs) this.drop(entry.key);
  }

  private drop(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    if (entry.place !== undefined) this.byAge.remove(entry.place);
    this.bytes -= entry.bytes;
  }

  private replay(line: CacheLine, nowMs: number): void {
    if ('drop' in line) for (const key of line.drop) this.drop(key);
    else if ('lost' in line) this.lostUntil.set(line.lost, line.untilMs);
    else if (line.expiresAtMs > nowMs) this.insert(line, nowMs);
    else this.drop(line.key);
  }

  private *snapshot(): Generator<string> {
    for (const [lost, untilMs] of [...this.lostAfterwards, ...this.lostUntil])
      yield JSON.stringify({ lost, untilMs: Math.max(untilMs, this.lostUntil.get(lost) ?? 0) } satisfies CacheLine);
    for (const { bytes: _, place: __, ...entry } of this.byAge) yield JSON.stringify(entry satisfies CacheLine);
  }

  private add(line: CacheLine): void {
    this.journal.add(JSON.stringify(line));
  }
}
