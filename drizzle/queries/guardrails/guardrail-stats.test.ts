import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { GuardrailMark } from '@llm0/core/guardrails/policy';
import { runs } from '@llm0/testing/lane';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import type { Database, Db } from '../../client';
import { insertLogRecords } from '../logs/log-insert';
import { countGuardrailHits, listGuardrailHits, loadGuardrailStats } from './guardrail-stats';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const FIRST_MS = Date.parse('2026-03-02T00:00:00Z');
const NOW_MS = FIRST_MS + 30 * DAY_MS;

const marks = fc.array(
  fc.record(
    {
      rule: fc.constantFrom('mail', 'keys', "o'hara \u{1f600}"),
      on: fc.constantFrom('input', 'output'),
      part: fc.constantFrom('user', 'assistant', 'tool_arguments'),
      check: fc.constantFrom('pii', 'secrets'),
      action: fc.constantFrom('block', 'redact'),
      count: fc.integer({ min: 0, max: 5 }),
      ms: fc.integer({ min: 0, max: 10 }),
      shadow: fc.constant(true),
      error: fc.constantFrom('timeout', 'failed'),
    },
    { requiredKeys: ['rule', 'on', 'part', 'check', 'action', 'count', 'ms'] },
  ) as fc.Arbitrary<GuardrailMark>,
  { maxLength: 4 },
);
const times = fc.integer({ min: 0, max: 3 * DAY_MS - 1 });

describe.each(TEST_DATABASES)('guardrail findings, on $name', (kind) => {
  let database: Database;
  let db: Db;
  beforeAll(async () => {
    database = await kind.open();
    db = database.db;
  }, 60_000);
  afterAll(() => database.close());

  test('roll-ups and rows say the same, of any range and however often a record comes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(times, marks), { minLength: 1, maxLength: 12 }),
        times,
        times,
        async (given, from, to) => {
          const projectId = crypto.randomUUID();
          const records = given.map(([at, guardrails]) =>
            sampleRecord({ projectId, createdAtMs: FIRST_MS + at, ...(guardrails.length > 0 ? { guardrails } : {}) }),
          );
          await insertLogRecords(db, records);
          await insertLogRecords(db, records);
          const range = { fromMs: FIRST_MS + Math.min(from, to), toMs: FIRST_MS + Math.max(from, to) };
          const read = await loadGuardrailStats(db, { ...range, nowMs: NOW_MS, projectId, groupBy: 'rule' });
          const within = records.filter(({ createdAtMs: at }) => at >= range.fromMs && at < range.toMs);
          const told = new Map<string, { requests: number; matches: number }>();
          for (const { guardrails = [] } of within) {
            const seen = new Set<string>();
            for (const { rule, on, check, action, shadow, error, count } of guardrails) {
              const sums = told.getOrInsertComputed(rule, () => ({ requests: 0, matches: 0 }));
              const place = JSON.stringify([rule, on, check, action, error ?? shadow]);
              if (!seen.has(place)) sums.requests += 1;
              seen.add(place);
              sums.matches += count;
            }
          }
          expect(new Map(read.map(({ group, requests, matches }) => [group ?? '', { requests, matches }]))).toEqual(
            told,
          );
          const inHours = await loadGuardrailStats(db, { ...range, nowMs: NOW_MS, projectId, intervalMs: HOUR_MS });
          const sum = (of: readonly { readonly matches: number }[]) =>
            of.reduce((all, { matches }) => all + matches, 0);
          expect(sum(inHours)).toBe(sum(read));
          const hits = await listGuardrailHits(db, { ...range, projectId, limit: 1000 });
          expect(await countGuardrailHits(db, { ...range, projectId })).toBe(hits.length);
        },
      ),
      { numRuns: runs(60) },
    );
  }, 120_000);

  test('an unchecked entry is not a hit', async () => {
    const projectId = crypto.randomUUID();
    const mark = { rule: 'a', on: 'input', part: 'user', check: 'webhook', action: 'block', count: 0, ms: 1 } as const;
    await insertLogRecords(db, [
      sampleRecord({ projectId, createdAtMs: FIRST_MS, guardrails: [{ ...mark, error: 'timeout' }] }),
      sampleRecord({ projectId, createdAtMs: FIRST_MS + 1, guardrails: [{ ...mark, count: 1, shadow: true }] }),
    ]);
    const range = { fromMs: FIRST_MS, toMs: FIRST_MS + 1000, projectId };
    expect(await listGuardrailHits(db, { ...range, limit: 10 })).toEqual([FIRST_MS + 1]);
    const outcomes = await loadGuardrailStats(db, { ...range, nowMs: NOW_MS, groupBy: 'outcome' });
    expect(outcomes.map(({ group, requests }) => [group, requests])).toEqual([
      ['timeout', 1],
      ['watched', 1],
    ]);
    const [plan] = await db.execute<{ count: string }>(
      sql`select count(*) as count from rollup_guardrail_day where project_id = ${projectId}::uuid`,
    );
    expect(Number(plan?.count)).toBe(2);
  });
});
