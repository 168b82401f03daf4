import { describe, expect, test } from 'bun:test';
import { createKeySecret, hashSecret, looksLikeKey, type Principal } from './api-key';
import { KeyCache } from './key-cache';

const principal = (version: number) => ({ key: { version } }) as unknown as Principal;

describe('key secrets', () => {
  test('256 random bits, of which only the hash and a short prefix are kept', () => {
    const one = createKeySecret();
    const two = createKeySecret();
    expect(one.secret).toMatch(/^llm0_live_[0-9a-f]{64}$/);
    expect(one.secret).not.toBe(two.secret);
    expect(one.hash).toBe(hashSecret(one.secret));
    expect(one.secret.startsWith(one.prefix)).toBe(true);
    expect(one.prefix.length).toBeLessThan(20);
    expect(looksLikeKey(one.secret)).toBe(true);
    expect(looksLikeKey(`${one.secret}0`)).toBe(false);
  });
});

describe('KeyCache', () => {
  test('simultaneous callers share one look-up; later ones need none', async () => {
    let lookUps = 0;
    const cache = new KeyCache({
      source: {
        findByHash: async () => {
          lookUps += 1;
          await Bun.sleep(2);
          return principal(1);
        },
      },
    });
    await Promise.all([cache.find('h'), cache.find('h'), cache.find('h')]);
    await cache.find('h');
    expect(lookUps).toBe(1);
    expect(cache.peek('h')?.key.version).toBe(1);
  });

  test('reload replaces the entry, and forgets a key that is gone', async () => {
    const answers: (Principal | null)[] = [principal(1), principal(2), null];
    const cache = new KeyCache({ source: { findByHash: async () => answers.shift() ?? null } });
    await cache.find('h');
    await cache.reload('h');
    expect(cache.peek('h')?.key.version).toBe(2);
    expect(await cache.reload('h')).toBeNull();
    expect(cache.peek('h')).toBeUndefined();
  });

  test('a reload during a look-up finds what was stored before the reload', async () => {
    let stored = 1;
    const lookUps: PromiseWithResolvers<void>[] = [];
    const findByHash = async () => {
      const seen = principal(stored);
      const lookUp = Promise.withResolvers<void>();
      lookUps.push(lookUp);
      await lookUp.promise;
      return seen;
    };
    const cache = new KeyCache({ source: { findByHash } });
    const early = cache.find('h');
    stored = 2;
    const late = [cache.reload('h'), cache.reload('h')];
    lookUps[0]?.resolve();
    expect((await early)?.key.version).toBe(1);
    await Bun.sleep(0);
    lookUps[1]?.resolve();
    expect((await Promise.all(late)).map((found) => found?.key.version)).toEqual([2, 2]);
    expect([lookUps.length, cache.peek('h')?.key.version]).toEqual([2, 2]);
  });

  test('unknown keys are remembered as unknown for a while, failures are not', async () => {
    let lookUps = 0;
    let failing = true;
    const cache = new KeyCache({
      unknownTtlMs: 20,
      source: {
        findByHash: async () => {
          lookUps += 1;
          if (failing) throw new Error('down');
          return null;
        },
      },
    });
    await expect(cache.find('h')).rejects.toThrow('down');
    failing = false;
    expect(await cache.find('h')).toBeNull();
    expect(await cache.find('h')).toBeNull();
    expect(lookUps).toBe(2);
    await Bun.sleep(30);
    await cache.find('h');
    expect(lookUps).toBe(3);
  });
});
