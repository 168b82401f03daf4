import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hashSecret } from '@llm0/core/keys/api-key';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import type { Database } from '../../client';
import { legacyKeys } from '../../schema/legacy-keys';
import { deleteApiKey, keyRows, rotateApiKey } from './api-keys';
import { findPrincipalByHash } from './find-principal';
import { adoptLegacyKey, listLegacyKeys } from './legacy-keys';
import { projectRows } from './projects';

describe.each(TEST_DATABASES)('legacy keys on $name', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await kind.open();
  }, 60_000);
  afterAll(() => database.close());

  const makeLegacy = async () => {
    const { db } = database;
    const project = await projectRows.create(db, { name: 'taken over' });
    const standIn = hashSecret(crypto.randomUUID());
    const key = await keyRows.create(db, { projectId: project.id, name: 'old', hash: standIn, prefix: 'old' });
    await db.insert(legacyKeys).values({ apiKeyId: key.id, lookup: 'old-key', bcryptHash: '$2a$04$x', standIn });
    return { ...key, standIn };
  };
  const bcryptOf = async (id: string) =>
    (await listLegacyKeys(database.db)).find(({ apiKeyId }) => apiKeyId === id)?.bcryptHash;

  test('a key that was used is known by its SHA-256, and its bcrypt hash is gone', async () => {
    const key = await makeLegacy();
    expect(await bcryptOf(key.id)).toBe('$2a$04$x');
    const hash = hashSecret(`old-key-${crypto.randomUUID()}`);
    await adoptLegacyKey(database.db, key.id, hash);
    expect(await bcryptOf(key.id)).toBeNull();
    expect((await findPrincipalByHash(database.db, hash))?.key.id).toBe(key.id);
    // Another process verified the same key at the same time: nothing changes any more.
    await adoptLegacyKey(database.db, key.id, hashSecret('another'));
    expect((await findPrincipalByHash(database.db, hash))?.key.id).toBe(key.id);
  });

  test('a key that got another secret, or was deleted, is not opened by the old one', async () => {
    const rotated = await makeLegacy();
    const fresh = hashSecret(crypto.randomUUID());
    await keyRows.update(database.db, { projectId: rotated.projectId, id: rotated.id }, { hash: fresh });
    expect(await bcryptOf(rotated.id)).toBeNull();
    await adoptLegacyKey(database.db, rotated.id, hashSecret('old-key-secret'));
    expect((await findPrincipalByHash(database.db, fresh))?.key.id).toBe(rotated.id);
    expect(await findPrincipalByHash(database.db, hashSecret('old-key-secret'))).toBeNull();
    const deleted = await makeLegacy();
    await deleteApiKey(database.db, { projectId: deleted.projectId, id: deleted.id });
    expect(await bcryptOf(deleted.id)).toBeNull();
  });

  test('a secret that a rotation keeps for a while is verified until then', async () => {
    const { db } = database;
    const [kept, ended] = [await makeLegacy(), await makeLegacy()];
    const fresh = { hash: hashSecret(crypto.randomUUID()), prefix: 'new' };
    await rotateApiKey(db, { projectId: kept.projectId, id: kept.id }, { ...fresh, graceEndMs: Date.now() + 60_000 });
    expect(await bcryptOf(kept.id)).toBe('$2a$04$x');
    const old = hashSecret(`old-key-${crypto.randomUUID()}`);
    await adoptLegacyKey(db, kept.id, old);
    expect(await findPrincipalByHash(db, old)).toMatchObject({
      key: { id: kept.id },
      secretEndsMs: expect.any(Number),
    });
    expect((await findPrincipalByHash(db, fresh.hash))?.key.id).toBe(kept.id);
    const other = { hash: hashSecret(crypto.randomUUID()), prefix: 'new', graceEndMs: Date.now() - 1000 };
    await rotateApiKey(db, { projectId: ended.projectId, id: ended.id }, other);
    expect(await bcryptOf(ended.id)).toBeNull();
  });
});
