import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { LocalEmbedder } from '@llm0/core/embedding/local-embedder';
import { SHIPPED_MODEL } from '@llm0/core/embedding/shipped-model';

/** Git-ignored: vectors cost seconds, and change with the model only. */
const CACHE = join(import.meta.dir, 'data/vectors.json');
const DEADLINE_MS = 120_000;
const AT_ONCE = 200;

/** Vectors of all texts by the shipped model; texts it refuses (language, length) are missing. Kept on disk. */
export async function embedTexts(texts: Iterable<string>): Promise<ReadonlyMap<string, Float32Array>> {
  const kept: Record<string, string | null> = await Bun.file(CACHE)
    .json()
    .catch(() => ({}));
  const missing = [...new Set(texts)].filter((text) => kept[keyOf(text)] === undefined);
  if (missing.length > 0) {
    const embedder = new LocalEmbedder({ ...SHIPPED_MODEL, onBroken: (message) => console.error(message) });
    for (let i = 0; i < missing.length; i += AT_ONCE) {
      const some = missing.slice(i, i + AT_ONCE);
      const outcomes = await Promise.all(some.map((text) => embedder.embed(text, DEADLINE_MS)));
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.type === 'none' && outcome.reason !== 'language' && outcome.reason !== 'too_long') {
          throw new Error(`no vector: ${outcome.reason}`);
        }
        const text = some[index] ?? '';
        kept[keyOf(text)] = outcome.type === 'vector' ? encode(outcome.vector) : null;
      }
    }
    embedder.stop();
    mkdirSync(join(import.meta.dir, 'data'), { recursive: true });
    await Bun.write(CACHE, JSON.stringify(kept));
  }
  const vectors = new Map<string, Float32Array>();
  for (const text of texts) {
    const vector = kept[keyOf(text)];
    if (typeof vector === 'string') vectors.set(text, decode(vector));
  }
  return vectors;
}

/** Both vectors have length 1. */
export function similarityOf(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

const keyOf = (text: string) => `${SHIPPED_MODEL.model} ${text}`;
const encode = (vector: Float32Array) =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');

function decode(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}
