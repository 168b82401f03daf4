// The preview of an anomaly says what the job would have found, minute by minute.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { isMet } from '@llm0/core/alerts/condition';
import { Firings } from '@llm0/core/alerts/firings';
import type { Database } from '@llm0/drizzle/client';
import { projectRows } from '@llm0/drizzle/queries/access/projects';
import { alertRows } from '@llm0/drizzle/queries/alerts';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { replayAlert } from '@llm0/drizzle/queries/stats/read/replay-alert';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { ALL_WELL, MEASURES } from './measure-alert';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const USD = 1e9;
const RULE = { kind: 'spend_anomaly', threshold: 5, windowMinutes: 15 } as const;

describe.each(TEST_DATABASES)('an anomaly replayed on $name', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await kind.openOwn();
  }, 60_000);
  afterAll(() => database.close());

  test('the preview fires at the minutes of the job, and knows the highest value', async () => {
    const { db } = database;
    const { id: projectId } = await projectRows.create(db, { name: 'odd hours' });
    const hourMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 3 * HOUR_MS;
    const at = (createdAtMs: number, usd: number) =>
      sampleRecord({ projectId, createdAtMs, costNanoUsd: Math.round(usd * USD) });
    const usual = Array.from({ length: 20 * 5 }, (_, index) =>
      at(hourMs - (Math.floor(index / 5) + 1) * DAY_MS + ((index % 5) - 1) * HOUR_MS + 1_000, 1 + (index % 7) / 10),
    );
    // The second of three hours costs ten times the usual, from its 20th minute on.
    const odd = [at(hourMs + 1_000, 1), at(hourMs + HOUR_MS + 20 * MINUTE_MS + 1_000, 12)];
    await insertLogRecords(db, [...usual, ...odd]);
    const alert = await alertRows.create(db, {
      ...{ ...RULE, name: 'odd', projectId, webhookUrl: 'https://hooks.example.test/', isActive: false },
    });
    const range = { fromMs: hourMs + 7 * MINUTE_MS, toMs: hourMs + HOUR_MS + 40 * MINUTE_MS };
    const found = new Firings();
    for (let atMs = range.fromMs; atMs <= range.toMs; atMs += MINUTE_MS) {
      const context = { db, nowMs: () => atMs, targets: () => [], stores: ALL_WELL };
      // The job of that minute had not seen the requests after it.
      if (atMs <= hourMs + HOUR_MS + 20 * MINUTE_MS && atMs >= hourMs + HOUR_MS) {
        found.check(atMs, false, null);
        continue;
      }
      const value = (await MEASURES.spend_anomaly(context, alert))?.value ?? null;
      found.check(atMs, isMet(RULE, value), value);
    }
    const replay = await replayAlert(db, { ...RULE, projectId, ...range, nowMs: range.toMs });
    expect(replay).toEqual({ fromMs: range.fromMs, firings: found.firings, highest: found.highest });
    expect(replay.firings).toEqual([{ fromMs: hourMs + HOUR_MS + 21 * MINUTE_MS, toMs: null }]);
    const over = { ...range, toMs: hourMs + 3 * HOUR_MS };
    const ended = await replayAlert(db, { ...RULE, projectId, ...over, nowMs: over.toMs });
    expect(ended.firings.map(({ toMs }) => toMs)).toEqual([hourMs + 3 * HOUR_MS]);
    await alertRows.delete(db, { id: alert.id });
  }, 60_000);
});
