import { describe, expect, test } from 'bun:test';
import { undisturbedMs } from '@llm0/testing/thread-time';
import { ZERO_USAGE } from '../../chat/usage';
import { GatewayError } from '../../errors/gateway-error';
import { CACHED_ANSWER_CODEC, type CachedAnswer } from '../cached-answer';
import {
  type ClaimOutcome,
  type ClaimRef,
  type IdempotencyClaim,
  IdempotencyKeys,
  type IdempotencyStore,
} from './idempotency-keys';

const answer: CachedAnswer = {
  v: 1,
  provider: 'alpha',
  model: 'm',
  response: { choices: [{ index: 0, text: 'hi', finishReason: 'stop' }] },
  usage: ZERO_USAGE,
  costNanoUsd: 7,
};

interface Row {
  owner: string;
  bodyHash: string;
  answer?: string;
  leaseUntilMs: number;
}

/** The table in memory; any number of processes may share it. */
class MemoryStore implements IdempotencyStore {
  readonly rows = new Map<string, Row>();
  away = false;
  delayMs = 1;
  renewals = 0;
  releases = 0;

  private async pause(): Promise<void> {
    await Bun.sleep(this.delayMs);
    if (this.away) throw new Error('away');
  }

  async claim({ apiKeyId, keyHash, owner }: ClaimRef, bodyHash: string, leaseMs: number): Promise<ClaimOutcome> {
    await this.pause();
    const id = `${apiKeyId} ${keyHash}`;
    const row = this.rows.get(id);
    if (row === undefined || (row.answer === undefined && row.leaseUntilMs <= Date.now())) {
      this.rows.set(id, { owner, bodyHash, leaseUntilMs: Date.now() + leaseMs });
      return { type: 'claimed' };
    }
    if (row.bodyHash !== bodyHash) return { type: 'conflict' };
    return row.answer === undefined ? { type: 'pending' } : { type: 'done', answer: row.answer };
  }

  async renew(refs: readonly ClaimRef[], leaseMs: number): Promise<void> {
    await this.pause();
    this.renewals += 1;
    for (const ref of refs) this.change(ref, (row) => ({ ...row, leaseUntilMs: Date.now() + leaseMs }));
  }

  async complete(ref: ClaimRef, text: string): Promise<void> {
    await this.pause();
    this.change(ref, (row) => ({ ...row, answer: text }));
  }

  async release(ref: ClaimRef): Promise<void> {
    await this.pause();
    this.change(ref, () => undefined);
    this.releases += 1;
  }

  private change(ref: ClaimRef, to: (row: Row) => Row | undefined): void {
    const id = `${ref.apiKeyId} ${ref.keyHash}`;
    const row = this.rows.get(id);
    if (row?.owner !== ref.owner) return;
    const next = to(row);
    if (next === undefined) this.rows.delete(id);
    else this.rows.set(id, next);
  }
}

/** Longer than a busy machine stands still; tests of either say another. */
const PATIENT = { leaseMs: 10_000, deadlineMs: 5_000, pollMs: 10 };
const SHORT_DEADLINE = { deadlineMs: 100 };
/** A busy machine may stop the process for half a second. */
const SHORT_LEASE = { leaseMs: 1200 };

function createProcess(store = new MemoryStore(), times: Partial<typeof PATIENT> = {}) {
  const answers = new IdempotencyKeys({ store, codec: CACHED_ANSWER_CODEC, ...PATIENT, ...times });
  let next = 0;
  const begin = (more: { key?: string; bodyHash?: string; apiKeyId?: string; signal?: AbortSignal } = {}) =>
    answers.begin({
      apiKeyId: 'k',
      key: 'one',
      bodyHash: 'b',
      requestId: `${process.pid}-${next++}-${Math.random()}`,
      signal: new AbortController().signal,
      ...more,
    });
  const produce = async (): Promise<IdempotencyClaim<CachedAnswer>> => {
    const turn = await begin();
    if (turn.type !== 'produce') throw new Error('it is not our turn');
    return turn.claim;
  };
  return { store, answers, begin, produce };
}

describe('one answer per Idempotency-Key', () => {
  test('the completed answer is replayed, in this process and in another one', async () => {
    const one = createProcess();
    const claim = await one.produce();
    await claim.complete(() => answer);
    expect(await one.begin()).toEqual({ type: 'replay', answer });
    expect(await createProcess(one.store).begin()).toEqual({ type: 'replay', answer });
    expect(one.answers.size).toBe(0);
    expect((await one.begin({ apiKeyId: 'other' })).type).toBe('produce');
  });

  test.each(['here', 'in another process'])('one under way %s is joined', async (where) => {
    const one = createProcess();
    const claim = await one.produce();
    const other = where === 'here' ? one : createProcess(one.store);
    const joined = Promise.all([other.begin(), other.begin()]);
    await Bun.sleep(50);
    await claim.complete(() => answer);
    expect(await joined).toEqual([
      { type: 'replay', answer },
      { type: 'replay', answer },
    ]);
  });

  test.each(['here', 'in another process'])(
    'another body is a conflict %s, before and after the answer',
    async (where) => {
      const one = createProcess();
      const claim = await one.produce();
      const other = where === 'here' ? one : createProcess(one.store);
      await expect(other.begin({ bodyHash: 'c' })).rejects.toMatchObject({ kind: 'idempotency_conflict' });
      await claim.complete(() => answer);
      await expect(other.begin({ bodyHash: 'c' })).rejects.toMatchObject({ kind: 'idempotency_conflict' });
    },
  );

  test('an error goes to those who joined, and is not kept', async () => {
    const one = createProcess();
    const claim = await one.produce();
    const joined = one.begin();
    await Bun.sleep(5);
    claim.fail(new GatewayError('upstream_error', 'broken'));
    await expect(joined).rejects.toMatchObject({ kind: 'upstream_error' });
    expect((await one.begin()).type).toBe('produce');
  });

  test('a request after an error runs again with any body', async () => {
    for (const bodyHash of ['b', 'c']) {
      const one = createProcess();
      const claim = await one.produce();
      one.store.delayMs = 40;
      claim.fail(new GatewayError('upstream_error', 'broken'));
      expect((await one.begin({ bodyHash })).type).toBe('produce');
    }
  });

  test.each(['here', 'in another process'])(
    'when the first one leaves, one of those who joined %s goes on',
    async (where) => {
      const one = createProcess();
      const claim = await one.produce();
      const other = where === 'here' ? one : createProcess(one.store);
      const joined = [other.begin(), other.begin()];
      await Bun.sleep(30);
      claim.release();
      const first = await Promise.race(joined);
      if (first.type !== 'produce') throw new Error('nobody goes on');
      await first.claim.complete(() => answer);
      expect((await Promise.all(joined)).map((turn) => turn.type).sort()).toEqual(['produce', 'replay']);
    },
  );

  test('a follower may leave', async () => {
    const one = createProcess();
    await one.produce();
    for (const process of [one, createProcess(one.store)]) {
      const leaving = new AbortController();
      const joined = process.begin({ signal: leaving.signal });
      setTimeout(() => leaving.abort(), 20);
      await expect(joined).rejects.toMatchObject({ kind: 'client_closed' });
    }
  });

  test('a claim lives as long as its owner, and not much longer', async () => {
    const one = createProcess(new MemoryStore(), SHORT_LEASE);
    await one.produce();
    const other = createProcess(one.store, SHORT_LEASE).begin();
    await Bun.sleep(1.4 * SHORT_LEASE.leaseMs);
    expect(one.store.renewals).toBeGreaterThan(2);
    expect(await Promise.race([other, Bun.sleep(1).then(() => 'waiting')])).toBe('waiting');
    // The owner is killed: nobody renews any more.
    one.answers.stop();
    expect((await other).type).toBe('produce');
  });

  test('without the store no request runs, and a claim that came too late is given back', async () => {
    const one = createProcess(new MemoryStore(), SHORT_DEADLINE);
    one.store.away = true;
    await expect(one.begin()).rejects.toMatchObject({ kind: 'store_unavailable', retryAfterMs: 1000 });
    one.store.away = false;
    one.store.delayMs = SHORT_DEADLINE.deadlineMs + 50;
    await expect(one.begin()).rejects.toMatchObject({ kind: 'store_unavailable' });
    one.store.delayMs = 1;
    for (let i = 0; i < 500 && one.store.releases === 0; i++) await Bun.sleep(10);
    expect([one.store.releases, one.store.rows.size]).toEqual([1, 0]);
    expect((await one.begin()).type).toBe('produce');
  });

  test('an answer the store does not take yet is replayed from memory, and written later', async () => {
    const one = createProcess(new MemoryStore(), SHORT_DEADLINE);
    const claim = await one.produce();
    one.store.away = true;
    const startMs = undisturbedMs();
    await claim.complete(() => answer);
    expect(undisturbedMs() - startMs).toBeLessThan(400);
    expect((await one.begin()).type).toBe('replay');
    one.store.away = false;
    for (let i = 0; i < 200 && one.answers.size > 0; i++) await Bun.sleep(10);
    expect((await createProcess(one.store).begin()).type).toBe('replay');
  });

  test('a claim ends once', async () => {
    const one = createProcess();
    const claim = await one.produce();
    await claim.complete(() => answer);
    claim.fail(new GatewayError('internal', 'late'));
    claim.release();
    await Bun.sleep(10);
    expect((await one.begin()).type).toBe('replay');
  });
});
