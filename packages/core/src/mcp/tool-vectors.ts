import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { TextEmbedder } from '../embedding/built-in-embeddings';

export interface ToolVectorsOptions {
  readonly embedder: TextEmbedder;
  /** Maximum of vectors, some 1.5 kB each. */
  readonly most?: number;
}

const MOST = 5000;
/** Texts in the embedder at once, which leaves room for others. */
const AT_ONCE = 2;
/** Deadline for one text in milliseconds: the model may have to load first. */
const DEADLINE_MS = 20_000;
/** Vector of a text that the model rejects; it resembles nothing. */
const NO_DIRECTION = new Float32Array(0);

/** Vectors of texts, cached by hash; missing ones are computed once in the background. */
export class ToolVectors {
  private readonly vectors: LRUCache<string, Float32Array>;
  private readonly wanted = new Map<string, string>();
  private readonly making = new Set<string>();
  private changed = Promise.withResolvers<void>();

  constructor(private readonly options: ToolVectorsOptions) {
    this.vectors = new LRUCache({ max: options.most ?? MOST });
  }

  /** In the order of the texts; undefined for late ones, in milliseconds. Never throws. */
  async get(texts: readonly string[], waitMs: number): Promise<readonly (Float32Array | undefined)[]> {
    const hashes = texts.map((text) => createHash('sha256').update(text).digest('base64'));
    for (const [index, hash] of hashes.entries()) {
      if (this.vectors.has(hash) || this.making.has(hash) || this.wanted.size >= MOST) continue;
      this.wanted.set(hash, texts[index] ?? '');
    }
    this.make();
    const endMs = performance.now() + waitMs;
    while (hashes.some((hash) => this.wanted.has(hash) || this.making.has(hash))) {
      const leftMs = endMs - performance.now();
      if (leftMs <= 0) break;
      await this.nextChange(leftMs);
    }
    return hashes.map((hash) => this.vectors.get(hash));
  }

  private async nextChange(mostMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, mostMs);
    await Promise.race([promise, this.changed.promise]);
    clearTimeout(timer);
  }

  private make(): void {
    for (const [hash, text] of this.wanted) {
      if (this.making.size >= AT_ONCE) return;
      this.wanted.delete(hash);
      this.making.add(hash);
      void this.makeOne(hash, text);
    }
  }

  private async makeOne(hash: string, text: string): Promise<void> {
    const outcome = await this.options.embedder.embed(text, DEADLINE_MS, true);
    if (outcome.type === 'vector') this.vectors.set(hash, outcome.vector);
    else if (outcome.reason === 'too_long' || outcome.reason === 'language') this.vectors.set(hash, NO_DIRECTION);
    this.making.delete(hash);
    // A broken embedder skips the rest; the next search tries again.
    if (outcome.type === 'none' && outcome.reason === 'failed') this.wanted.clear();
    const { resolve } = this.changed;
    this.changed = Promise.withResolvers();
    resolve();
    this.make();
  }
}
