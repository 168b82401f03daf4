import { afterEach, describe, expect, test } from 'bun:test';
import { undisturbedMs } from '@llm0/testing/thread-time';
import { LiveSecrets } from './live-secrets';
import { type FetchedSecret, parseReference } from './secret-reference';

const REFERENCE = 'vault:secret/data/openai#key';
const REFRESH_MS = 60_000;
const open: LiveSecrets[] = [];
afterEach(() => {
  for (const secrets of open.splice(0)) secrets.stop();
});

/** A manager whose secret the test changes, or takes away. */
function manager(first: string | Error = 'one', clock?: () => number) {
  const state = {
    now: first as string | Error | FetchedSecret,
    asked: 0,
    nowMs: 1_000_000,
    changes: 0,
    told: [] as string[],
  };
  const log = { warn: (_: object, words: string) => state.told.push(words), info: () => {} };
  const secrets = new LiveSecrets({
    fetch: async () => {
      state.asked += 1;
      if (state.now instanceof Error) throw state.now;
      return typeof state.now === 'string' ? { text: state.now } : state.now;
    },
    refreshMs: REFRESH_MS,
    nowMs: clock ?? (() => state.nowMs),
    log: log as never,
  });
  secrets.onChange = () => {
    state.changes += 1;
  };
  open.push(secrets);
  return { state, secrets };
}

const only = new Set([REFERENCE]);

describe('secrets of references', () => {
  test('are asked for once, and forgotten with their keys', async () => {
    const { state, secrets } = manager();
    await secrets.prepare(only);
    await secrets.prepare(only);
    expect([secrets.read(REFERENCE), state.asked, state.changes]).toEqual(['one', 1, 0]);
    await secrets.prepare(new Set());
    expect(secrets.read(REFERENCE)).toBeUndefined();
  });

  test('a refused one is asked for again at once: many at once ask once, and a refusal of an older one not at all', async () => {
    const { state, secrets } = manager();
    await secrets.prepare(only);
    state.now = 'two';
    const renewed = await Promise.all(Array.from({ length: 50 }, () => secrets.renew(REFERENCE, 'one')));
    expect(new Set(renewed)).toEqual(new Set(['two']));
    expect([state.asked, state.changes]).toEqual([2, 1]);
    expect(await secrets.renew(REFERENCE, 'one')).toBe('two');
    expect(state.asked).toBe(2);
  });

  test('one that is refused and stays the same is asked for a few times a second, however many requests there are', async () => {
    const { state, secrets } = manager('one', () => performance.now());
    await secrets.prepare(only);
    const startMs = performance.now();
    let refusals = 0;
    const load = Array.from({ length: 20 }, async () => {
      while (performance.now() - startMs < 1000) {
        expect(await secrets.renew(REFERENCE, 'one')).toBeUndefined();
        refusals += 1;
      }
    });
    await Promise.all(load);
    expect(refusals).toBeGreaterThan(20);
    expect(state.asked).toBeLessThan(20);
  });

  test('a manager that hangs: all wait for it once, then briefly, and notice at once when it is back', async () => {
    let isHanging = false;
    let text = 'one';
    let asked = 0;
    const secrets = new LiveSecrets({
      fetch: async () => {
        asked += 1;
        return isHanging ? new Promise<never>(() => {}) : { text };
      },
      ...{
        refreshMs: REFRESH_MS,
        nowMs: () => 1_000_000,
        askMs: 1000,
        log: { warn: () => {}, info: () => {} } as never,
      },
    });
    open.push(secrets);
    await secrets.prepare(only);
    isHanging = true;
    const renew = () => secrets.renew(REFERENCE, 'one');
    expect(await Promise.all([renew(), renew(), renew()])).toEqual([undefined, undefined, undefined]);
    expect([asked, secrets.isAway(REFERENCE)]).toEqual([4, true]);
    const startMs = undisturbedMs();
    expect(await Promise.all([renew(), renew()])).toEqual([undefined, undefined]);
    expect(undisturbedMs() - startMs).toBeLessThan(500);
    expect(asked).toBe(6);
    const waiting = renew();
    [isHanging, text] = [false, 'two'];
    expect(await Promise.all([waiting, renew()])).toEqual(['two', 'two']);
    expect(secrets.isAway(REFERENCE)).toBe(false);
  });

  test('the manager away: the last one stays, and it is told once', async () => {
    const { state, secrets } = manager();
    await secrets.prepare(only);
    state.now = new Error('sealed');
    for (let i = 0; i < 3; i++) {
      state.nowMs += 1000;
      expect(await secrets.renew(REFERENCE, 'one')).toBeUndefined();
    }
    expect(secrets.read(REFERENCE)).toBe('one');
    expect(state.told).toEqual(['a secret cannot be read: the last known one stays in use']);
  });

  test('one that could not be read at the start comes into force when it can', async () => {
    const { state, secrets } = manager(new Error('no permission'));
    await secrets.prepare(only);
    expect(secrets.read(REFERENCE)).toBeUndefined();
    state.now = 'late';
    state.nowMs += 1000;
    expect(await secrets.renew(REFERENCE, undefined)).toBe('late');
    expect(state.changes).toBe(1);
  });

  test.each([
    ['after its time', 'two', REFRESH_MS],
    ['before it ends', { text: 'two', expiresAtMs: 1_000_000 + 10_000 }, 8000],
  ])('are asked for again on their own %s', async (_, text, afterMs) => {
    const { state, secrets } = manager();
    if (typeof text === 'object') state.now = { ...text, text: 'one' };
    await secrets.prepare(only);
    state.now = text;
    state.nowMs += afterMs - 1;
    await Bun.sleep(1100);
    expect(state.asked).toBe(1);
    state.nowMs += 1;
    for (let i = 0; i < 500 && state.changes === 0; i++) await Bun.sleep(10);
    expect(secrets.read(REFERENCE)).toBe('two');
  });
});

test.each([
  [REFERENCE, { kind: 'vault', name: 'secret/data/openai', field: 'key' }],
  [
    'aws-sm:arn:aws:secretsmanager:eu-west-1:1:secret:x-AbC#a',
    { name: 'arn:aws:secretsmanager:eu-west-1:1:secret:x-AbC', field: 'a' },
  ],
  ['gcp-sm:projects/p/secrets/s', { name: 'projects/p/secrets/s', field: undefined }],
  ['file:/run/a#b', { kind: 'file', name: '/run/a#b', field: undefined }],
  ['identity:aws', { kind: 'identity', name: 'aws' }],
])('%s is a reference', (text, expected) => {
  expect(parseReference(text)).toMatchObject(expected as object);
});

test.each(['sk-abc', 'vaults:x', '', 'AKIA:secret:token', 'bedrock-api-key-x'])('%p is none', (text) => {
  expect(parseReference(text)).toBeUndefined();
});
