import { describe, expect, test } from 'bun:test';
import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import type { AdmitRequest } from '../hot-store';
import { NO_LIMITS, START_MS } from '../hot-store.cases';
import { makeTempDir, requestOf } from '../store-rows.fixture';
import { storeUnavailable } from '../store-unavailable';
import { decideAdmit } from './admit';
import { beforeAdmit, undoAdmit } from './apply';
import { Journal } from './journal';
import { applyLine, type JournalLine, snapshotLines } from './lines';
import { EmbeddedLogQueue } from './log-queue';
import { EmbeddedState } from './state';
import { EmbeddedTurn } from './turn';

const NO_CACHE = { find: () => undefined, isIncomplete: () => false, queueFull: false };

/** A store over a journal in memory, whose disk takes so many lines more. */
function openState() {
  const target = { state: new EmbeddedState(), queue: new EmbeddedLogQueue() };
  const disk = { room: Number.POSITIVE_INFINITY, lines: [] as string[] };
  let waiting: string[] = [];
  const turn = new EmbeddedTurn({
    decide(request) {
      const { decision, effect } = decideAdmit(target.state, request, START_MS, NO_CACHE);
      if (effect === undefined) return { decision };
      const before = beforeAdmit(target.state, effect);
      const line: JournalLine = { t: 'admit', effect };
      waiting.push(JSON.stringify(line));
      applyLine(target, line);
      return {
        decision,
        line: disk.lines.length + waiting.length,
        undo: () => undoAdmit(target.state, effect, before),
      };
    },
    write() {
      const taken = waiting.splice(0, disk.room);
      disk.lines.push(...taken);
      disk.room -= taken.length;
      if (waiting.length > 0) throw storeUnavailable('the disk is full');
    },
    has: (line) => line <= disk.lines.length,
    takeBack: (line) => {
      waiting = waiting.slice(0, line - 1 - disk.lines.length);
    },
    onEnd() {},
  });
  const customers = ['ann', 'bob'];
  for (const id of customers)
    target.state.limits.set(`project-1\n${id}`, {
      ...NO_LIMITS,
      requestsPerHour: 3,
      requestsPerDay: 4,
      modelRequestsPerDay: { m: 2 },
    });
  const ask = (asked: readonly AdmitRequest[]) => Promise.allSettled(asked.map((request) => turn.ask(request)));
  return { target, disk, ask };
}

/** What later decisions go by, in some order; who was only looked at has nothing. */
const stateOf = ({ target }: ReturnType<typeof openState>) => {
  const lines = [...snapshotLines(target, START_MS)].filter((line) => {
    if (line.t === 'key') return line.key.open > 0 || line.months.some(([, { held }]) => held > 0);
    if (line.t === 'customer') return JSON.stringify(line.customer) !== '{}';
    return line.t !== 'project' && line.t !== 'versions';
  });
  return lines.map((line) => JSON.stringify(line)).sort();
};

const anyRequest = fc
  .record({
    keyId: fc.constantFrom('key-1', 'key-2'),
    customerId: fc.constantFrom('ann', 'bob', 'eve', undefined),
    burst: fc.integer({ min: 1, max: 4 }),
    tokensPerMinute: fc.constantFrom(null, 50, 500),
    model: fc.constantFrom('m', 'n'),
  })
  .map(({ burst, model, ...rest }) =>
    requestOf({ ...rest, keyBucket: { ratePerMinute: 60, burst }, maxCustomers: 2, requested: { model, tokens: 20 } }),
  );

describe('a turn that the disk refuses', () => {
  test('unwritten requests were never decided; written ones count', async () => {
    const property = fc.asyncProperty(
      fc.array(anyRequest, { maxLength: 6 }),
      fc.array(anyRequest, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 0, max: 8 }),
      fc.array(anyRequest, { minLength: 1, maxLength: 6 }),
      async (before, refused, room, after) => {
        const full = openState();
        const whole = openState();
        await Promise.all([full.ask(before), whole.ask(before)]);
        full.disk.room = room;
        const results = await full.ask(refused);
        full.disk.room = Number.POSITIVE_INFINITY;
        // The other one is asked only for what was decided.
        const decided = refused.filter((_, i) => results[i]?.status === 'fulfilled');
        await whole.ask(decided);
        expect(full.disk.lines).toEqual(whole.disk.lines);
        expect(await full.ask(after)).toEqual(await whole.ask(after));
        expect(full.disk.lines).toEqual(whole.disk.lines);
        expect(stateOf(full)).toEqual(stateOf(whole));
      },
    );
    await fc.assert(property, { numRuns: runs(400) });
  });

  test('a refusal says that the store is away', async () => {
    const { disk, ask } = openState();
    disk.room = 1;
    const [first, second] = await ask([requestOf({}), requestOf({})]);
    expect(first?.status).toBe('fulfilled');
    expect(second).toMatchObject({
      status: 'rejected',
      reason: expect.objectContaining({ kind: 'store_unavailable' }),
    });
  });
});

describe('journal', () => {
  test('lines wait for a write, leave together, and may be taken back until then', () => {
    const dir = makeTempDir();
    try {
      const open = () => new Journal({ dir: dir.path, name: 'x', compactBytes: 1e9, snapshot: () => [] });
      const journal = open();
      journal.open(() => {});
      expect([journal.add('a'), journal.add('b'), journal.add('ü'.repeat(600_000)), journal.add('d')]).toEqual([
        1, 2, 3, 4,
      ]);
      expect(journal.has(1)).toBe(false);
      journal.takeBack(4);
      journal.write();
      expect([journal.has(3), journal.has(4)]).toEqual([true, false]);
      expect(journal.add('e')).toBe(4);
      journal.write();
      journal.close();
      const path = join(dir.path, readdirSync(dir.path)[0] ?? '');
      const { size } = statSync(path);
      appendFileSync(path, 'torn');
      const lines: string[] = [];
      const again = open();
      again.open((line) => lines.push(line));
      expect(lines).toEqual(['a', 'b', 'ü'.repeat(600_000), 'e']);
      expect(statSync(path).size).toBe(size);
      for (let i = 0; i < 2_000; i++) again.add(String(i));
      again.write();
      expect(readFileSync(path, 'utf8').split('\n').length).toBe(4 + 2_000 + 1);
    } finally {
      dir.remove();
    }
  });
});
