// Embedder or Postgres away, slow or without pgvector: a look-up is a miss after 150 ms at the latest, after a few of those
// in a row none is tried for 5 s; writes wait within bounds. No request ever fails for it. One warning for each cause.

import { inTime } from '../../async/in-time';
import type { Embedder } from '../../embedding/embedder';
import { BatchWriter } from '../../logs/batch-writer';
import { decodeCachedAnswer } from '../cached-answer';
import { findRefusal, type GuardName } from './guards/near-match-guards';
import { hashQuestion } from './hash-question';
import { LookUpBreaker } from './look-up-breaker';
import {
  DEFAULT_SEMANTIC_THRESHOLD,
  type SemanticAnswer,
  type SemanticCache,
  type SemanticHit,
  type SemanticLookUp,
  type SemanticOutcome,
  type SemanticQuestion,
} from './semantic-cache';
import type {
  MatchOutcome,
  SemanticCandidate,
  SemanticEntry,
  SemanticGroup,
  SemanticHitCount,
  SemanticMatch,
  SemanticStore,
} from './semantic-store';

export interface StoredSemanticCacheOptions {
  readonly embedder: Embedder;
  readonly store: SemanticStore;
  readonly nowMs: () => number;
  readonly onLookUp: (outcome: SemanticOutcome, ms: number) => void;
  readonly onRefusal: (guard: GuardName | 'rejected') => void;
  readonly onDrop: (entries: number) => void;
  readonly onWarning: (message: string) => void;
  /** Keep both texts of near matches. */
  readonly keepTexts: boolean;
  readonly deadlineMs?: number;
  readonly maxLookUps?: number;
  readonly everyMs?: number;
}

const DEADLINE_MS = 150;
const EMBED_SHARE = 0.8;
/** Deadline of background writes. */
const KEEP_DEADLINE_MS = 10_000;
const MAX_LOOK_UPS = 64;
const CANDIDATES = 5;
const ENTRY_BYTES = 4096;
const RECHECK_MS = 60_000;
/** Candidates this far below the threshold are worth an operator's look. */
const NEAR = 0.06;
const MAX_EMBEDDING_FOR_WRITES = 64;

type Found = { readonly candidate: SemanticCandidate; readonly guard: GuardName | 'rejected' | undefined };

interface Progress {
  vector?: Float32Array;
  /** Nobody waits any more: what is found now is neither served nor counted. */
  isLate: boolean;
}

/** The semantic cache over an embedder and a store. */
export class StoredSemanticCache implements SemanticCache {
  private readonly entries: BatchWriter<SemanticEntry>;
  private readonly hits: BatchWriter<SemanticHitCount>;
  private readonly matches: BatchWriter<SemanticMatch>;
  private lookUps = 0;
  private embeddings = 0;
  private readonly breaker: LookUpBreaker;
  private available: { readonly value: Promise<boolean>; readonly untilMs: number } | undefined;

  constructor(private readonly options: StoredSemanticCacheOptions) {
    const { store, onDrop, everyMs, nowMs } = options;
    this.breaker = new LookUpBreaker(options.onWarning);
    const shared = { everyMs, bytesOf: () => ENTRY_BYTES };
    this.entries = new BatchWriter({
      ...shared,
      write: (entries) => store.write(entries),
      bytesOf: ({ value, question }) => value.length + question.length + ENTRY_BYTES,
      onDrop,
    });
    // Statistics only.
    this.hits = new BatchWriter({ ...shared, write: (hits) => store.countHits(hits, nowMs()), onDrop: () => {} });
    this.matches = new BatchWriter({ ...shared, write: (matches) => store.writeMatches(matches), onDrop: () => {} });
  }

  async find(question: SemanticQuestion): Promise<SemanticLookUp> {
    const startMs = performance.now();
    const { maxLookUps = MAX_LOOK_UPS, deadlineMs = DEADLINE_MS } = this.options;
    const done = (outcome: SemanticOutcome, lookUp: SemanticLookUp = {}): SemanticLookUp => {
      this.options.onLookUp(outcome, performance.now() - startMs);
      return lookUp;
    };
    if (this.breaker.isOpen(startMs) || this.lookUps >= maxLookUps) return done('busy');
    this.lookUps += 1;
    const progress: Progress = { isLate: false };
    const search = this.search(question, deadlineMs, progress).finally(() => {
      this.lookUps -= 1;
    });
    try {
      const result = await inTime(search, deadlineMs, () => 'late' as const);
      if (result === 'late') {
        progress.isLate = true;
        this.breaker.fail(performance.now(), 'the semantic cache is slow: look-ups count as misses');
        return done('late', { vector: progress.vector });
      }
      return done(result.outcome, result.lookUp);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      this.breaker.fail(performance.now(), 'the semantic cache cannot be read', detail);
      return done('error', { vector: progress.vector });
    }
  }

  keep(question: SemanticQuestion, answer: SemanticAnswer, lookUp: SemanticLookUp = {}): void {
    // Another target's answer is only good until the first choice is back.
    const isFallback = answer.provider !== question.provider || answer.model !== question.model;
    if (lookUp.isUnfit === true || isFallback) return;
    if (lookUp.vector !== undefined) this.add(question, answer, lookUp.vector);
    else if (this.embeddings >= MAX_EMBEDDING_FOR_WRITES) this.options.onDrop(1);
    else {
      this.embeddings += 1;
      void this.embedAndAdd(question, answer).finally(() => {
        this.embeddings -= 1;
      });
    }
  }

  async flush(timeoutMs: number): Promise<void> {
    const writers = [this.entries, this.hits, this.matches];
    const endMs = performance.now() + timeoutMs;
    while (this.embeddings > 0 && performance.now() < endMs) await Bun.sleep(5);
    await Promise.all(writers.map((writer) => writer.flush(Math.max(1, endMs - performance.now()))));
  }

  stop(): void {
    for (const writer of [this.entries, this.hits, this.matches]) writer.stop();
    this.options.embedder.stop();
  }

  private async search(
    question: SemanticQuestion,
    deadlineMs: number,
    progress: Progress,
  ): Promise<{ readonly outcome: SemanticOutcome; readonly lookUp: SemanticLookUp }> {
    if (!(await this.isAvailable())) return { outcome: 'unavailable', lookUp: { isUnfit: true } };
    const { embedder, store, nowMs } = this.options;
    // Ahead of the whole deadline: a model that is still loading is no failure of the store.
    const embedded = await embedder.embed(question.text, EMBED_SHARE * deadlineMs);
    if (embedded.type === 'none') {
      const { reason } = embedded;
      if (reason === 'failed') return this.failed('the embedder gives no vectors: look-ups count as misses');
      return { outcome: reason, lookUp: { isUnfit: reason === 'language' || reason === 'too_long' } };
    }
    const { vector } = embedded;
    progress.vector = vector;
    const group = this.groupOf(question);
    const questionHash = hashQuestion(question.text);
    const threshold = Math.max(question.threshold ?? DEFAULT_SEMANTIC_THRESHOLD, question.minThreshold ?? 0);
    const candidates = await store.findNearest({
      ...{ group, vector, questionHash, nowMs: nowMs(), limit: CANDIDATES },
      valueFrom: threshold,
    });
    if (progress.isLate) return { outcome: 'late', lookUp: {} };
    this.breaker.succeed();
    const found = this.judge(question, candidates, threshold);
    if (found === undefined) return { outcome: 'miss', lookUp: { vector } };
    const isOver = found.candidate.similarity >= threshold;
    const outcome = !isOver ? 'below' : found.guard !== undefined ? 'refused' : question.shadow ? 'shadow' : 'served';
    if (outcome !== 'served') {
      this.remember(question, found, { outcome, threshold });
      return { outcome: outcome === 'below' ? 'miss' : outcome, lookUp: { vector } };
    }
    const hit = await this.readHit(question, found.candidate);
    if (hit === undefined || progress.isLate) return { outcome: 'miss', lookUp: { vector } };
    this.remember(question, found, { outcome, threshold });
    this.hits.add({ projectId: question.projectId, cacheKey: found.candidate.cacheKey });
    return { outcome: 'hit', lookUp: { hit, vector } };
  }

  /** The nearest entry that passes all guards; else the nearest refused or almost similar one. */
  private judge(
    question: SemanticQuestion,
    candidates: readonly SemanticCandidate[],
    threshold: number,
  ): Found | undefined {
    let refused: Found | undefined;
    for (const candidate of candidates) {
      if (candidate.similarity < threshold) {
        const isNear = candidate.similarity >= threshold - NEAR;
        return refused ?? (isNear ? { candidate, guard: undefined } : undefined);
      }
      const guard = candidate.isRejected ? 'rejected' : findRefusal(question.text, candidate.question);
      if (guard === undefined) return { candidate, guard };
      this.options.onRefusal(guard);
      refused ??= { candidate, guard };
    }
    return refused;
  }

  private async readHit(
    { projectId, mayServe, room }: SemanticQuestion,
    candidate: SemanticCandidate,
  ): Promise<SemanticHit | undefined> {
    const value = candidate.value ?? (await this.options.store.readValue(projectId, candidate.cacheKey));
    const stored = value === null ? undefined : await decodeCachedAnswer(value, room);
    const remainingMs = Math.floor(candidate.expiresAtMs - this.options.nowMs());
    if (value === null || stored === undefined || remainingMs <= 0) return undefined;
    if (mayServe?.(stored) === false) return undefined;
    return { stored, value, similarity: candidate.similarity, remainingMs };
  }

  private remember(
    question: SemanticQuestion,
    { candidate, guard }: Found,
    { outcome, threshold }: { readonly outcome: MatchOutcome; readonly threshold: number },
  ): void {
    const { keepTexts, nowMs } = this.options;
    this.matches.add({
      projectId: question.projectId,
      requestId: question.requestId,
      createdAtMs: nowMs(),
      outcome,
      guard: outcome === 'refused' ? (guard ?? null) : null,
      similarity: candidate.similarity,
      threshold,
      cacheKey: question.cacheKey,
      matchedKey: candidate.cacheKey,
      questionHash: hashQuestion(question.text),
      matchedHash: hashQuestion(candidate.question),
      prompt: keepTexts ? question.text : null,
      matchedPrompt: keepTexts ? candidate.question : null,
    });
  }

  private async embedAndAdd(question: SemanticQuestion, answer: SemanticAnswer): Promise<void> {
    const isThere = await this.isAvailable().catch(() => false);
    if (!isThere) return this.options.onDrop(1);
    const embedded = await this.options.embedder.embed(question.text, KEEP_DEADLINE_MS);
    if (embedded.type === 'vector') this.add(question, answer, embedded.vector);
    else if (embedded.reason !== 'language' && embedded.reason !== 'too_long') this.options.onDrop(1);
  }

  private add(question: SemanticQuestion, { ttlMs, ...answer }: SemanticAnswer, vector: Float32Array): void {
    const createdAtMs = this.options.nowMs();
    this.entries.add({
      ...answer,
      ...this.groupOf(question),
      cacheKey: question.cacheKey,
      question: question.text,
      questionHash: hashQuestion(question.text),
      vector,
      createdAtMs,
      expiresAtMs: createdAtMs + ttlMs,
    });
  }

  private groupOf({ projectId, provider, model, context }: SemanticQuestion): SemanticGroup {
    const fingerprint = Bun.CryptoHasher.hash('sha256', `${this.options.embedder.model}\n${context}`, 'hex');
    return { projectId, provider, model, fingerprint };
  }

  private async isAvailable(): Promise<boolean> {
    const nowMs = performance.now();
    if (this.available === undefined || nowMs > this.available.untilMs) {
      this.available = { value: this.options.store.isAvailable(), untilMs: nowMs + RECHECK_MS };
    }
    try {
      const isThere = await this.available.value;
      if (!isThere) this.breaker.warnOnce('the semantic cache is off: Postgres has no pgvector (extension "vector")');
      return isThere;
    } catch (error) {
      this.available = undefined;
      throw error;
    }
  }

  private failed(message: string): { readonly outcome: SemanticOutcome; readonly lookUp: SemanticLookUp } {
    this.breaker.fail(performance.now(), message);
    return { outcome: 'error', lookUp: {} };
  }
}
