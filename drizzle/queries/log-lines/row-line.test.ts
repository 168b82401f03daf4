import { describe, expect, test } from 'bun:test';
import { RecordsRejectedError } from '@llm0/core/logs/decode-log-record';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { insertLogRecords } from '../logs/log-insert';
import { readSinkLines } from '../logs/log-sinks';
import { factOf } from '../stats/write/rollup-deltas';
import { factOfLine, toRowLine, toWholeLine } from './row-line';

const wide = sampleRecord({
  createdAtMs: Date.parse('2026-03-01T23:59:59.987Z'),
  ...{ clientRequestId: 'client "1"\n\\', runId: 'run-1', traceId: '0af7651916cd43dd8448eb211c80319c' },
  costDetail: { input: 5, other_attempts: 7, price_source: 'seed' },
  ...{ costEstimated: true, costNanoUsd: 1, savedNanoUsd: 9_007_199_254_740_991, similarityScore: 0.5 },
  ...{ cacheHit: true, semanticCacheHit: true, failoverCount: 1, finalProvider: 'beta' },
  attempts: [
    { provider: 'alpha', model: 'model-a', outcome: 'timeout', status: 504, startMs: 1, latencyMs: 30.5 },
    { provider: 'beta', model: 'model-b', outcome: 'ok', startMs: 43, latencyMs: 55.25, costNanoUsd: 3 },
  ],
  ...{ status: 'error', httpStatus: 502, errorCode: 'upstream_error', errorMessage: 'Says "cost_usd": 5, ü' },
  ...{ customerId: 'acme', labels: { team: 'a', 'with "quotes"': '' }, refusedCount: 4 },
  ...{ matchedBy: crypto.randomUUID(), droppedParams: ['top_k'], modality: 'image', units: { images: 2 } },
  guardrails: [{ rule: 'r1', on: 'input', part: 'user', check: 'pii', action: 'flag', count: 2, ms: 1.5 }],
  routing: [{ provider: 'beta', model: 'model-b', reason: 'failover' }],
});
const sparse = sampleRecord({
  provider: undefined,
  finalProvider: undefined,
  ttftMs: undefined,
  overheadMs: undefined,
});
const embedded = sampleRecord({ dialect: 'openai-embeddings', labels: {}, id: crypto.randomUUID().toUpperCase() });
const RECORDS: readonly (readonly [string, LogRecord])[] = [
  ['every field', wide],
  ['few fields', sparse],
  ['a modality of its dialect', embedded],
];

const parse = (line: string) => {
  const { created_at: time, ...row } = JSON.parse(line);
  return { ...row, createdAtMs: Date.parse(time) };
};

describe.each(TEST_DATABASES)('a line on $name', (kind) => {
  test.each(RECORDS)(
    'is the row that Postgres would write, with %s',
    async (_, record) => {
      const { db, close } = await kind.open();
      try {
        await insertLogRecords(db, [record]);
        const [row = ''] = await readSinkLines(db, [[record.createdAtMs, record.id]], []);
        expect(parse(toWholeLine(toRowLine(record)))).toEqual(parse(row));
      } finally {
        await close();
      }
    },
    60_000,
  );
});

test.each(RECORDS)('a line has the sums of its record, with %s', (_, record) => {
  expect(factOfLine(toRowLine(record))).toEqual(factOf(record));
});

test.each([
  ['labels that are no texts', { labels: { team: 5 } }],
  ['a matched request that is no id', { matchedBy: 'x' }],
  ['too many switches', { failoverCount: 2 ** 40 }],
])('it refuses %s', (_, wrong) => {
  expect(() => toRowLine({ ...sampleRecord(), ...(wrong as object) } as LogRecord)).toThrow(RecordsRejectedError);
});
