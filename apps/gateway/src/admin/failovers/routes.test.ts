import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { failoverLogs } from '@llm0/drizzle/schema/gateway-logs';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import fc from 'fast-check';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 3, 3);
const at = (minute: number) => new Date(START_MS + minute * MINUTE_MS).toISOString();
const RUNS = 8;

describe.each(ON_ONE_DATABASE)('failovers on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  });
  afterAll(() => admin.close());

  const row = fc.record({
    minute: fc.nat(120),
    originalModel: fc.constantFrom('a', 'b'),
    triggerStatusCode: fc.constantFrom(null, 429, 500),
    fallbackSucceeded: fc.boolean(),
    originalAttemptLatencyMs: fc.constantFrom(null, 0, 10, 20, 30.5),
  });

  test('equal ones of a range are one group, with their number, ends and median time', async () => {
    const ofRange = fc.record({ rows: fc.array(row, { maxLength: 40 }), from: fc.nat(60), minutes: fc.nat(60) });
    await fc.assert(
      fc.asyncProperty(ofRange, async ({ rows, from, minutes }) => {
        const { id: projectId } = await admin.createProject();
        const stored = rows.map(({ minute, ...one }, switchIndex) => ({
          ...{ ...one, projectId, switchIndex, createdAtMs: START_MS + minute * MINUTE_MS },
          ...{ requestId: crypto.randomUUID(), originalProvider: 'openai', fallbackProvider: 'anthropic' },
          ...{ fallbackModel: 'claude', triggerReason: 'server_error' },
        }));
        if (stored.length > 0) await admin.database.db.insert(failoverLogs).values(stored);
        const asked = `from=${at(from)}&to=${at(from + minutes)}`;
        const { status, body } = await admin.call('GET', `/stats/failovers?project_id=${projectId}&${asked}`);
        expect(status).toBe(200);
        const within = rows.filter(({ minute }) => minute >= from && minute < from + minutes);
        const expected = Map.groupBy(within, (one) =>
          [one.originalModel, one.triggerStatusCode, one.fallbackSucceeded].join(),
        );
        const found = body.groups.map((group: Record<string, unknown>) => [
          [group.original_model, group.trigger_status_code, group.fallback_succeeded].join(),
          [group.times, group.first_at, group.last_at, group.lost_ms],
        ]);
        expect(Object.fromEntries(found)).toEqual(
          Object.fromEntries([...expected].map(([key, own]) => [key, sumUp(own)])),
        );
        expect(found.length).toBe(expected.size);
        const lasts = body.groups.map((group: { last_at: string }) => group.last_at);
        expect(lasts).toEqual(lasts.toSorted().toReversed());
      }),
      { numRuns: RUNS },
    );
  });
});

function sumUp(own: readonly { readonly minute: number; readonly originalAttemptLatencyMs: number | null }[]) {
  const minutes = own.map(({ minute }) => minute);
  const lost = own.map((one) => one.originalAttemptLatencyMs ?? 0).filter((ms) => ms > 0);
  const median = lost.toSorted((a, b) => a - b)[Math.floor((lost.length - 1) / 2)] ?? null;
  return [own.length, at(Math.min(...minutes)), at(Math.max(...minutes)), median];
}
