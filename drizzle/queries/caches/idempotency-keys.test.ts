import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ClaimRef } from '@llm0/core/cache/idempotency/idempotency-keys';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import type { Database } from '../../client';
import { deleteExpired } from '../logs/retention';
import { createIdempotencyStore } from './idempotency-keys';

const LEASE_MS = 30_000;

describe.each(TEST_DATABASES)('idempotency keys on $name', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await kind.open();
  }, 60_000);
  afterAll(() => database.close());

  const store = () => createIdempotencyStore(database.db);
  const newRef = (): ClaimRef => ({
    apiKeyId: crypto.randomUUID(),
    keyHash: 'ab'.repeat(32),
    owner: crypto.randomUUID(),
  });
  const otherOwner = (ref: ClaimRef): ClaimRef => ({ ...ref, owner: crypto.randomUUID() });
  const claim = (ref: ClaimRef, bodyHash = 'b', leaseMs = LEASE_MS) => store().claim(ref, bodyHash, leaseMs);
  const age = (ref: ClaimRef, column: 'lease_until' | 'expires_at') =>
    database.client`update idempotency_keys set ${database.client(column)} = now() - interval '1 second'
      where api_key_id = ${ref.apiKeyId}`;

  test('only one of many concurrent requests gets the key', async () => {
    const ref = newRef();
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => claim(otherOwner(ref))));
    expect(outcomes.map((outcome) => outcome.type).sort()).toEqual(['claimed', ...Array(9).fill('pending')]);
  });

  test('the answer comes back as it was, whatever it holds; another body is a conflict', async () => {
    const ref = newRef();
    await claim(ref);
    const answer = JSON.stringify({ text: '\u0000 \ud83d 😀 \\u0000' });
    expect(await claim(otherOwner(ref), 'c')).toEqual({ type: 'conflict' });
    await store().complete(otherOwner(ref), 'stolen');
    expect(await claim(otherOwner(ref))).toEqual({ type: 'pending' });
    await store().complete(ref, answer);
    expect(await claim(otherOwner(ref))).toEqual({ type: 'done', answer });
    expect(await claim(otherOwner(ref), 'c')).toEqual({ type: 'conflict' });
    await store().release(ref);
    expect(await claim(otherOwner(ref))).toEqual({ type: 'done', answer });
  });

  test('a released key is free, by its owner only', async () => {
    const ref = newRef();
    await claim(ref);
    await store().release(otherOwner(ref));
    expect(await claim(otherOwner(ref))).toEqual({ type: 'pending' });
    await store().release(ref);
    expect(await claim(otherOwner(ref), 'c')).toEqual({ type: 'claimed' });
  });

  test('a claim past its lease is taken over, and then its first owner changes nothing', async () => {
    const ref = newRef();
    await claim(ref);
    await age(ref, 'lease_until');
    await store().renew([ref], LEASE_MS);
    expect(await claim(otherOwner(ref))).toEqual({ type: 'pending' });
    await age(ref, 'lease_until');
    const heir = otherOwner(ref);
    expect(await claim(heir)).toEqual({ type: 'claimed' });
    await store().complete(ref, '"late"');
    await store().renew([ref], LEASE_MS);
    await store().release(ref);
    expect(await claim(otherOwner(ref))).toEqual({ type: 'pending' });
    await store().complete(heir, '"new"');
    expect(await claim(otherOwner(ref))).toEqual({ type: 'done', answer: '"new"' });
  });

  test('after its day a key is free again, and the row goes', async () => {
    const ref = newRef();
    await claim(ref);
    await store().complete(ref, '"old"');
    await age(ref, 'expires_at');
    expect(await claim(otherOwner(ref), 'c')).toEqual({ type: 'claimed' });
    await age(ref, 'expires_at');
    expect(await deleteExpired(database.db, 'idempotency_keys', Date.now())).toBeGreaterThanOrEqual(1);
    const rows = await database.client`select 1 from idempotency_keys where api_key_id = ${ref.apiKeyId}`;
    expect(rows).toHaveLength(0);
  });
});
