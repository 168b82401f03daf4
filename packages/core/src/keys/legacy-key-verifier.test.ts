import { describe, expect, test } from 'bun:test';
import { hashSecret } from './api-key';
import { LegacyKeyVerifier } from './legacy-key-verifier';

const bcrypt = (text: string) => Bun.password.hashSync(text, { algorithm: 'bcrypt', cost: 4 });
const SECRET = `llm0_live_${'ab'.repeat(32)}`;

/** A verifier whose work ends when it is told to. */
function slowVerifier(answer: (text: string) => boolean = () => false) {
  const open: (() => void)[] = [];
  const state = { calls: 0, most: 0 };
  const verifier = new LegacyKeyVerifier((async (text: string) => {
    state.calls++;
    const { promise, resolve } = Promise.withResolvers<void>();
    open.push(resolve);
    state.most = Math.max(state.most, open.length);
    await promise;
    return answer(text);
  }) as typeof Bun.password.verify);
  const finishOne = async () => {
    open.shift()?.();
    await Bun.sleep(0);
  };
  return { verifier, state, open, finishOne };
}

describe('keys known by a bcrypt hash alone', () => {
  test('bcrypt of the SHA-256, as llm0-gateway makes it, and of the key itself', async () => {
    const verifier = new LegacyKeyVerifier();
    const hashed = { apiKeyId: 'a', bcryptHash: bcrypt(hashSecret(SECRET)).replace('$2b$', '$2a$') };
    const short = { apiKeyId: 'b', bcryptHash: bcrypt('old-key-1') };
    expect(await verifier.find(SECRET, hashSecret(SECRET), [short, hashed])).toBe(hashed);
    expect(await verifier.find('old-key-1', hashSecret('old-key-1'), [hashed, short])).toBe(short);
    expect(await verifier.find('old-key-2', hashSecret('old-key-2'), [hashed, short])).toBeNull();
    const broken = { apiKeyId: 'c', bcryptHash: 'no hash at all' };
    expect(await verifier.find(SECRET, hashSecret(SECRET), [broken])).toBeNull();
  });

  test('the same secret at once is verified once, and a failure is remembered', async () => {
    const { verifier, state, finishOne } = slowVerifier();
    const candidates = [{ apiKeyId: 'a', bcryptHash: 'x' }];
    const asked = Array.from({ length: 5 }, () => verifier.find('s'.repeat(80), 'h', candidates));
    await finishOne();
    expect(await Promise.all(asked)).toEqual([null, null, null, null, null]);
    expect(await verifier.find('s'.repeat(80), 'h', candidates)).toBeNull();
    expect(state.calls).toBe(1);
  });

  test('two at a time, one for each key, and too many are sent away', async () => {
    const { verifier, state, open, finishOne } = slowVerifier();
    const ask = (apiKeyId: string, n: number) =>
      verifier.find('s'.repeat(80), `${apiKeyId}${n}`, [{ apiKeyId, bcryptHash: 'x' }]);
    const guesses = Array.from({ length: 33 }, (_, n) => ask('guessed', n));
    expect(open.length).toBe(1);
    await expect(ask('guessed', 99)).rejects.toThrow('too many');
    // Somebody else's key does not wait behind them.
    const other = ask('other', 0);
    const third = ask('third', 0);
    expect(open.length).toBe(2);
    for (let round = 0; round < 35; round++) await finishOne();
    const found: unknown[] = await Promise.all([...guesses, other, third]);
    expect(found).toEqual(Array.from({ length: 35 }, () => null));
    expect(state.most).toBe(2);
  });
});
