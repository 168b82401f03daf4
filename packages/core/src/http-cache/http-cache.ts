// Limited by entries and bytes, least recently used first out. With a shared store, answers come from there only; local
// ones serve for validation.
import { LRUCache } from 'lru-cache';
import type { CachePurge, CacheWrite } from '../limits/hot-store';
import { decodeAnswer, encodeAnswer } from './answer-codec';
import type { CacheControl } from './cache-control';
import { resourceOf, variantKey } from './cache-keys';
import { ChangeMarks } from './change-marks';
import {
  type AnswerHead,
  type AnswerTimes,
  describeAnswer,
  fieldsLength,
  type HeaderFields,
  type StoredAnswer,
} from './stored-answer';
import {
  keptMs,
  mayStandIn,
  type RequestFields,
  renewAnswer,
  requestControl,
  usabilityOf,
  usableMs,
} from './use-answer';

/** Cache key of a request. */
export interface CacheAsk {
  readonly projectId: string;
  /** Revision of the backend and default lifetimes. */
  readonly revision: string;
  readonly defaultTtlMs: number;
  /** Fields that always select among answers, with or without `Vary`, in lower case. */
  readonly alwaysVary: readonly string[];
  readonly provider: string;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly fields: RequestFields;
}

/** Keys of a stored answer. */
export interface CachePlace {
  /** Key of the resource for all its variants. */
  readonly resource: string;
  /** Possible answers of this request, as far as known. */
  readonly key: string;
  /** Change mark of the resource at request time; an answer from before a change isn't stored. */
  readonly mark: number;
  readonly ask: CacheAsk;
  readonly control: CacheControl;
}

export type Look =
  /** Neither read nor written. */
  | { readonly type: 'off' }
  | { readonly type: 'hit'; readonly place: CachePlace; readonly answer: StoredAnswer; readonly isStale: boolean }
  | {
      readonly type: 'miss';
      readonly place: CachePlace;
      /** Stored answer to revalidate or to serve stale. */
      readonly known?: StoredAnswer;
      /** `now`: the shared store may have it; `first`: read the shared store before deciding. */
      readonly shared?: 'now' | 'first';
    };

export interface HttpCacheOptions {
  readonly enabled: boolean;
  /** Answers are used from the hot store. */
  readonly isShared: boolean;
  readonly maxEntries: number;
  readonly maxBytes: number;
  /** A longer body isn't stored. */
  readonly maxEntryBytes: number;
  readonly nowMs: () => number;
}

interface Resource {
  readonly projectId: string;
  readonly provider: string;
  vary: readonly string[];
  readonly keys: Set<string>;
  /** Its last answer wasn't cacheable: requests don't wait for the next one. */
  passUntilMs: number;
}

export type CacheOutcome = 'hit' | 'miss' | 'stale';

const MAX_VARIANTS = 64;
const PASS_MS = 60_000;
/** Maximum of remembered uncacheable resources. */
const MAX_PASSED = 10_000;
/** Memory beside the body. */
const ENTRY_BYTES = 1024;
/** An answer that another process took for usable a moment ago. */
const SHARED_MARGIN_MS = 20;

/** Answers to GET of plain HTTP backends, by project. Source: https://www.rfc-editor.org/rfc/rfc9111 */
export class HttpCache {
  private readonly answers: LRUCache<string, StoredAnswer>;
  private readonly resources: LRUCache<string, Resource>;
  private readonly changes = new ChangeMarks();
  readonly counts: Record<CacheOutcome, number> = { hit: 0, miss: 0, stale: 0 };

  constructor(readonly options: HttpCacheOptions) {
    this.resources = new LRUCache({ max: options.maxEntries + MAX_PASSED });
    this.answers = new LRUCache({
      max: options.maxEntries,
      // Every use checks freshness; the timer only frees memory.
      ttlResolution: 1000,
      maxSize: options.maxBytes,
      sizeCalculation: ({ body, headers }) => body.byteLength + fieldsLength(headers) + ENTRY_BYTES,
    });
  }

  get stats(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.answers.size, bytes: this.answers.calculatedSize };
  }

  /** Entry for a request. */
  look(ask: CacheAsk): Look {
    const control = requestControl(ask.fields);
    if (!this.mayLook(ask, control)) return OFF;
    const resource = resourceOf(ask);
    const place = this.placeOf(resource, ask, control);
    const known = this.answers.get(place.key);
    if (this.options.isShared) return { type: 'miss', place, known, ...sharedLook(control) };
    return this.judge(place, known);
  }

  /** Judges an answer under the place's key. */
  judge(place: CachePlace, answer: StoredAnswer | undefined): Look {
    if (answer === undefined) return { type: 'miss', place };
    const usability = usabilityOf(
      answer,
      place.control,
      this.options.nowMs() - (this.options.isShared ? SHARED_MARGIN_MS : 0),
    );
    if (usability === 'validate') return { type: 'miss', place, known: answer };
    return { type: 'hit', place, answer, isStale: usability === 'stale' };
  }

  /** Decodes the shared store's answer and remembers it. */
  adopt(place: CachePlace, text: string): StoredAnswer | undefined {
    const answer = decodeAnswer(text);
    // Under a value of `Vary` that this process never listed it may have outlived a change.
    if (answer === undefined || answer.receivedAtMs <= (this.changes.changedAtMs(place.resource) ?? 0))
      return undefined;
    this.put(place, answer);
    return answer;
  }

  /** Judges the shared store's answer after its first read; `text` undefined: none. */
  judgeShared({ place, known }: Extract<Look, { type: 'miss' }>, text: string | undefined): Look {
    const shared = text === undefined ? undefined : this.adopt(place, text);
    // The store has nothing that is past its time.
    const stale = place.control.has('max-stale') ? known : undefined;
    const judged = this.judge(place, shared ?? stale);
    return judged.type === 'hit' ? judged : { type: 'miss', place, known: shared ?? known };
  }

  /** Describes an answer to store. Remembers an uncacheable resource, so that nobody waits for it. */
  describe(place: CachePlace, head: AnswerHead, times: AnswerTimes): Omit<StoredAnswer, 'body'> | undefined {
    const declared = Number(head.headers['content-length'] ?? 0);
    const isKept = !place.control.has('no-store') && declared <= this.options.maxEntryBytes;
    const described = isKept ? describeAnswer(head, { ...place.ask, ...times }) : undefined;
    if (described === undefined) this.pass(place);
    return described;
  }

  /** Requests with the same key may share an answer, unless one came after a change. */
  flightOf({ key, mark }: CachePlace): string {
    return `${key} ${mark}`;
  }

  /** Stores a whole answer here; returns the text for the shared store, if any. */
  keep(place: CachePlace, described: Omit<StoredAnswer, 'body'>, body: Uint8Array): CacheWrite | undefined {
    if (body.byteLength > this.options.maxEntryBytes) {
      this.pass(place);
      return undefined;
    }
    const answer = { ...described, body };
    return this.write(place, answer, this.put(place, answer));
  }

  /** Applies a 304 to a stored answer; undefined if the 304 is about another one or forbids storing. */
  renew(
    place: CachePlace,
    known: StoredAnswer,
    validated: { readonly headers: HeaderFields; readonly times: AnswerTimes },
  ): { readonly answer: StoredAnswer; readonly write: CacheWrite | undefined } | undefined {
    const answer = renewAnswer(known, validated.headers, { ...place.ask, ...validated.times });
    if (answer === undefined) return undefined;
    return { answer, write: this.write(place, answer, this.put(place, answer)) };
  }

  mayStandIn(place: CachePlace, known: StoredAnswer): boolean {
    return mayStandIn(known, place.control, this.options.nowMs());
  }

  /** True if others may wait for the answer under way. */
  mayShareFlight({ resource, control }: CachePlace): boolean {
    const known = this.resources.peek(resource);
    return !control.has('no-cache') && !isChoosy(control) && (known?.passUntilMs ?? 0) <= this.options.nowMs();
  }

  /** The resource changed: drops its answers, running ones included. Returns keys for the shared store to delete. */
  invalidate(resource: string): Iterable<string> {
    this.changes.note(resource, this.options.nowMs());
    const keys = new Set([resource, ...(this.resources.peek(resource)?.keys ?? [])]);
    for (const key of keys) this.answers.delete(key);
    return this.options.isShared ? keys : [];
  }

  count(outcome: CacheOutcome): void {
    this.counts[outcome] += 1;
  }

  /** Deletes entries that match all conditions; returns their number. */
  purge({ projectId, provider, model, cacheKey, olderThanMs }: CachePurge): number {
    if (model !== undefined) return 0;
    const untilMs = olderThanMs === undefined ? Number.POSITIVE_INFINITY : this.options.nowMs() - olderThanMs;
    if (olderThanMs === undefined) this.changes.noteAll();
    let removed = 0;
    for (const resource of this.resources.values()) {
      if (projectId !== undefined && resource.projectId !== projectId) continue;
      if (provider !== undefined && resource.provider !== provider) continue;
      for (const key of resource.keys) {
        const isMeant = cacheKey === undefined || cacheKey === key;
        const receivedAtMs = this.answers.peek(key)?.receivedAtMs ?? Number.POSITIVE_INFINITY;
        if (isMeant && receivedAtMs < untilMs && this.answers.delete(key)) removed += 1;
      }
    }
    return removed;
  }

  private mayLook({ method, fields }: CacheAsk, control: CacheControl): boolean {
    if (!this.options.enabled || (method !== 'GET' && method !== 'HEAD') || control.has('no-store')) return false;
    return NOT_LOOKED_UP.every((name) => fields.get(name) === null);
  }

  private placeOf(resource: string, ask: CacheAsk, control: CacheControl): CachePlace {
    const key = variantKey(resource, this.resources.get(resource)?.vary ?? ask.alwaysVary, ask.fields);
    return { resource, key, mark: this.changes.markOf(resource), ask, control };
  }

  /** undefined if it changed since the request. */
  private put({ resource, ask, mark }: CachePlace, answer: StoredAnswer): string | undefined {
    if (this.changes.markOf(resource) !== mark) return undefined;
    const known = this.resources.get(resource) ?? newResource(ask);
    if (known.vary.join() !== answer.vary.join() || known.keys.size >= MAX_VARIANTS) this.forgetVariants(known);
    known.vary = answer.vary;
    known.passUntilMs = 0;
    const key = variantKey(resource, answer.vary, ask.fields);
    known.keys.add(key);
    this.resources.set(resource, known);
    const ttl = keptMs(answer);
    if (ttl > 0) this.answers.set(key, answer, { ttl });
    else this.answers.delete(key);
    return key;
  }

  private forgetVariants({ keys }: Resource): void {
    for (const key of keys) this.answers.delete(key);
    keys.clear();
  }

  private pass({ resource, ask }: CachePlace): void {
    const known = this.resources.get(resource) ?? newResource(ask);
    known.passUntilMs = this.options.nowMs() + PASS_MS;
    this.resources.set(resource, known);
  }

  private write({ ask }: CachePlace, answer: StoredAnswer, key: string | undefined): CacheWrite | undefined {
    if (!this.options.isShared || key === undefined) return undefined;
    const ttlMs = Math.floor(usableMs(answer));
    // An answer that always needs revalidation replaces a fresh one.
    if (ttlMs <= 0) return { key, value: '', ttlMs: 1, provider: ask.provider, model: '' };
    return { key, value: encodeAnswer(answer), ttlMs, provider: ask.provider, model: '' };
  }
}

const newResource = ({ projectId, provider, alwaysVary }: CacheAsk): Resource => ({
  ...{ projectId, provider, vary: alwaysVary, keys: new Set(), passUntilMs: 0 },
});

const OFF: Look = { type: 'off' };

/** Parts of answers, and requests that depend on a state of theirs. */
const NOT_LOOKED_UP = ['range', 'if-range', 'if-match', 'if-unmodified-since'] as const;

/** The request takes only some of the answers that others would. */
const isChoosy = (control: CacheControl): boolean => CHOOSY.some((name) => control.has(name));
const CHOOSY = ['no-cache', 'max-age', 'min-fresh', 'max-stale'] as const;

const sharedLook = (control: CacheControl): { readonly shared?: 'now' | 'first' } => {
  if (control.has('no-cache')) return {};
  return { shared: isChoosy(control) ? 'first' : 'now' };
};
