import { describe, expect, test } from 'bun:test';
import { type Embedder, type EmbedOutcome, none } from '../../embedding/embedder';
import { hashQuestion } from './hash-question';
import type { SemanticAnswer, SemanticQuestion } from './semantic-cache';
import type { SemanticEntry, SemanticMatch, SemanticSearch, SemanticStore } from './semantic-store';
import { StoredSemanticCache } from './stored-semantic-cache';

const NOW_MS = 1_000_000;
const PROJECT = '00000000-0000-4000-8000-000000000001';

class FakeStore implements SemanticStore {
  readonly entries: SemanticEntry[] = [];
  readonly matches: SemanticMatch[] = [];
  readonly rejected = new Set<string>();
  searches = 0;
  available = true;
  delayMs = 0;
  away = false;

  async isAvailable() {
    return this.available;
  }
  async findNearest({ group, vector, questionHash, nowMs, limit }: SemanticSearch) {
    this.searches += 1;
    if (this.away) throw new Error('no connection');
    await Bun.sleep(this.delayMs);
    return this.entries
      .filter(
        (entry) =>
          entry.projectId === group.projectId &&
          entry.provider === group.provider &&
          entry.model === group.model &&
          entry.fingerprint === group.fingerprint &&
          entry.expiresAtMs > nowMs,
      )
      .map((entry) => ({
        cacheKey: entry.cacheKey,
        question: entry.question,
        similarity: entry.vector.reduce((sum, value, i) => sum + value * (vector[i] ?? 0), 0),
        isRejected: this.rejected.has(`${questionHash} ${entry.questionHash}`),
        expiresAtMs: entry.expiresAtMs,
      }))
      .sort((a, b) => b.similarity - a.similarity)
      .slice(0, limit);
  }
  async readValue(_projectId: string, cacheKey: string) {
    return this.entries.find((entry) => entry.cacheKey === cacheKey)?.value ?? null;
  }
  async write(entries: readonly SemanticEntry[]) {
    this.entries.push(...entries);
  }
  async countHits() {}
  async writeMatches(matches: readonly SemanticMatch[]) {
    this.matches.push(...matches);
  }
}

/** Similarity 0.9 between any two texts. */
class FakeEmbedder implements Embedder {
  outcome: EmbedOutcome | undefined;
  calls = 0;
  delayMs = 0;
  constructor(readonly model = 'fake') {}
  async embed(text: string, deadlineMs: number): Promise<EmbedOutcome> {
    this.calls += 1;
    if (this.delayMs > deadlineMs) {
      await Bun.sleep(deadlineMs);
      return none('late');
    }
    if (this.outcome !== undefined) return this.outcome;
    const vector = new Float32Array(1000);
    vector[0] = Math.sqrt(0.9);
    vector[1 + (Number(Bun.hash(text)) % 999)] = Math.sqrt(0.1);
    return { type: 'vector', vector };
  }
  stop() {}
}

function createCache(
  given: { store?: FakeStore; embedder?: FakeEmbedder; deadlineMs?: number; maxLookUps?: number } = {},
) {
  const { store = new FakeStore(), embedder = new FakeEmbedder(), ...options } = given;
  const outcomes: string[] = [];
  const warnings: string[] = [];
  const refusals: string[] = [];
  let drops = 0;
  const cache = new StoredSemanticCache({
    ...{ store, embedder, nowMs: () => NOW_MS, keepTexts: true, everyMs: 1, ...options },
    onLookUp: (outcome) => outcomes.push(outcome),
    onRefusal: (guard) => refusals.push(guard),
    onDrop: (entries) => {
      drops += entries;
    },
    onWarning: (message) => warnings.push(message),
  });
  return { cache, store, embedder, outcomes, warnings, refusals, drops: () => drops };
}

const question = (text: string, given: Partial<SemanticQuestion> = {}): SemanticQuestion => ({
  projectId: PROJECT,
  provider: 'alpha',
  model: 'm1',
  requestId: crypto.randomUUID(),
  cacheKey: `key of ${text}`,
  text,
  context: 'ctx',
  threshold: null,
  shadow: false,
  ...given,
});
const answer = (given: Partial<SemanticAnswer> = {}): SemanticAnswer => ({
  value: '{"v":1,"provider":"alpha","model":"m1","response":{"choices":[]},"usage":{},"costNanoUsd":5}',
  ttlMs: 1000,
  provider: 'alpha',
  model: 'm1',
  promptTokens: 1,
  completionTokens: 2,
  ...given,
});
const FRANCE = "What's the capital of France?";
const AGAIN = "Tell me France's capital city";

async function teach(under: ReturnType<typeof createCache>, text = FRANCE, given: Partial<SemanticAnswer> = {}) {
  const asked = question(text);
  under.cache.keep(asked, answer(given), await under.cache.find(asked));
  await under.cache.flush(1000);
}

describe('the semantic cache', () => {
  test('another wording gets the answer, with what is left of its time', async () => {
    const under = createCache();
    await teach(under);
    const { hit } = await under.cache.find(question(AGAIN));
    expect(hit?.similarity).toBeCloseTo(0.9, 5);
    expect(hit?.remainingMs).toBe(1000);
    expect(hit?.stored.costNanoUsd).toBe(5);
    await under.cache.flush(1000);
    expect(under.store.matches).toMatchObject([
      { outcome: 'served', guard: null, prompt: AGAIN, matchedPrompt: FRANCE, matchedKey: `key of ${FRANCE}` },
    ]);
  });

  test.each<[string, Partial<SemanticQuestion>]>([
    ['project', { projectId: '00000000-0000-4000-8000-000000000002' }],
    ['provider', { provider: 'beta' }],
    ['model', { model: 'm2' }],
    ['context', { context: 'other' }],
  ])('another %s gets nothing', async (_name, given) => {
    const under = createCache();
    await teach(under);
    expect((await under.cache.find(question(AGAIN, given))).hit).toBeUndefined();
  });

  test('another embedder never compares with entries of the one before', async () => {
    const store = new FakeStore();
    await teach(createCache({ store }));
    const other = createCache({ store, embedder: new FakeEmbedder('other') });
    expect((await other.cache.find(question(AGAIN))).hit).toBeUndefined();
  });

  test('the next nearest is served where a guard refuses the nearest; the refusal is counted', async () => {
    const under = createCache();
    await teach(under, "What's the capital of Spain?");
    await teach(under);
    expect((await under.cache.find(question(AGAIN))).hit).toBeDefined();
    const none = await under.cache.find(question('Tell me the capital of Peru'));
    expect(none.hit).toBeUndefined();
    expect(under.refusals.length).toBeGreaterThanOrEqual(2);
    await under.cache.flush(1000);
    expect(under.store.matches.at(-1)).toMatchObject({ outcome: 'refused', guard: 'names' });
  });

  test('threshold: the default, a project of its own, and a header that only raises', async () => {
    const under = createCache();
    await teach(under);
    const isHit = async (given: Partial<SemanticQuestion>) =>
      (await under.cache.find(question(AGAIN, given))).hit !== undefined;
    expect(await isHit({})).toBe(true);
    expect(await isHit({ threshold: 0.91 })).toBe(false);
    expect(await isHit({ threshold: 0.91, minThreshold: 0.5 })).toBe(false);
    expect(await isHit({ threshold: 0.5, minThreshold: 0.91 })).toBe(false);
    expect(await isHit({ threshold: 0.5 })).toBe(true);
    await under.cache.flush(1000);
    expect(under.store.matches.filter(({ outcome }) => outcome === 'below')).toHaveLength(3);
  });

  test('an answer that the project wants served no more is a miss', async () => {
    const under = createCache();
    await teach(under, FRANCE);
    const given = { mayServe: () => false };
    expect((await under.cache.find(question(AGAIN, given))).hit).toBeUndefined();
    expect((await under.cache.find(question(AGAIN, { mayServe: () => true }))).hit).toBeDefined();
    expect(under.outcomes.slice(-2)).toEqual(['miss', 'hit']);
  });

  test('shadow mode serves nothing and remembers; a rejected pair is refused', async () => {
    const under = createCache();
    await teach(under);
    expect((await under.cache.find(question(AGAIN, { shadow: true }))).hit).toBeUndefined();
    under.store.rejected.add(`${hashQuestion(AGAIN)} ${hashQuestion(FRANCE)}`);
    expect((await under.cache.find(question(AGAIN))).hit).toBeUndefined();
    await under.cache.flush(1000);
    expect(under.store.matches.map(({ outcome, guard }) => [outcome, guard])).toEqual([
      ['shadow', null],
      ['refused', 'rejected'],
    ]);
  });

  test("a fallback's answer is not kept, nor what the model can not read", async () => {
    const under = createCache();
    await teach(under, FRANCE, { model: 'fallback' });
    under.embedder.outcome = none('language');
    await teach(under, '¿Cuál es la capital?');
    expect(under.store.entries).toEqual([]);
    expect(under.outcomes).toEqual(['miss', 'language']);
  });

  test('a look-up that was too late does not keep the answer from being kept', async () => {
    const under = createCache({ deadlineMs: 20 });
    under.embedder.delayMs = 50;
    await teach(under);
    expect(under.outcomes).toEqual(['late']);
    expect(under.store.entries).toHaveLength(1);
    expect(under.warnings).toEqual([]);
  });

  test('a slow store is a miss in time, and after three of them is left alone for a while', async () => {
    const under = createCache({ deadlineMs: 20 });
    under.store.delayMs = 2000;
    for (let i = 0; i < 6; i++) {
      const startMs = performance.now();
      expect((await under.cache.find(question(AGAIN))).hit).toBeUndefined();
      expect(performance.now() - startMs).toBeLessThan(1500);
    }
    expect(under.outcomes).toEqual(['late', 'late', 'late', 'busy', 'busy', 'busy']);
    expect(under.warnings).toHaveLength(1);
  });

  test('what a look-up finds after its deadline was not served, nor refused', async () => {
    for (const other of [AGAIN, 'What is not the capital of France?']) {
      const under = createCache({ deadlineMs: 50 });
      await teach(under);
      under.store.delayMs = 100;
      expect((await under.cache.find(question(other))).hit).toBeUndefined();
      await Bun.sleep(100);
      await under.cache.flush(1000);
      expect(under.outcomes.at(-1)).toBe('late');
      expect([under.store.matches, under.refusals]).toEqual([[], []]);
    }
  });

  test('a store that is away is a miss, with one warning', async () => {
    const under = createCache();
    under.store.away = true;
    for (let i = 0; i < 5; i++) await under.cache.find(question(AGAIN));
    expect(under.outcomes.slice(0, 4)).toEqual(['error', 'error', 'error', 'busy']);
    expect(under.warnings).toHaveLength(1);
  });

  test('without pgvector nothing is embedded, looked up or kept, with one warning', async () => {
    const under = createCache();
    under.store.available = false;
    await teach(under);
    await under.cache.find(question(AGAIN));
    under.cache.keep(question('kept without a look-up'), answer());
    await under.cache.flush(1000);
    expect([under.embedder.calls, under.store.searches, under.store.entries.length]).toEqual([0, 0, 0]);
    expect(under.outcomes).toEqual(['unavailable', 'unavailable']);
    expect(under.warnings).toEqual([expect.stringContaining('pgvector')]);
    expect(under.drops()).toBe(1);
  });

  test('look-ups under way are bounded', async () => {
    const under = createCache({ maxLookUps: 2 });
    under.store.delayMs = 50;
    await Promise.all([1, 2, 3, 4].map(() => under.cache.find(question(AGAIN))));
    expect(under.outcomes.toSorted()).toEqual(['busy', 'busy', 'miss', 'miss']);
  });

  test('a damaged entry is a miss', async () => {
    const under = createCache();
    await teach(under, FRANCE, { value: '{"v":2}' });
    expect((await under.cache.find(question(AGAIN))).hit).toBeUndefined();
  });

  test('texts are only kept where they may be', async () => {
    const store = new FakeStore();
    const cache = new StoredSemanticCache({
      ...{ store, embedder: new FakeEmbedder(), nowMs: () => NOW_MS, keepTexts: false, everyMs: 1 },
      ...{ onLookUp: () => {}, onRefusal: () => {}, onDrop: () => {}, onWarning: () => {} },
    });
    cache.keep(question(FRANCE), answer());
    await cache.flush(1000);
    await cache.find(question(AGAIN));
    await cache.flush(1000);
    expect(store.matches).toMatchObject([{ outcome: 'served', prompt: null, matchedPrompt: null }]);
  });
});
