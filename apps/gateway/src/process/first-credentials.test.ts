import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hashSecret } from '@llm0/core/keys/api-key';
import type { Database } from '@llm0/drizzle/client';
import { findAdminToken } from '@llm0/drizzle/queries/access/admin-tokens';
import { findPrincipalByHash } from '@llm0/drizzle/queries/access/find-principal';
import { deleteSetting } from '@llm0/drizzle/queries/settings';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { FirstCredentials, type FirstSecrets } from './first-credentials';

describe.each(TEST_DATABASES)('first credentials on $name', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await kind.open();
    await deleteSetting(database.db, 'bootstrapped');
    // Other suites leave theirs in the embedded database; nobody could sign in.
    await database.client.unsafe('update admin_tokens set revoked_at = now() where revoked_at is null');
  }, 60_000);
  afterAll(() => database.close());

  const start = () => new FirstCredentials(database, { showsCredentials: true });
  const isValid = async ({ adminToken = '', apiKey = '' }: FirstSecrets) => [
    (await findAdminToken(database.db, hashSecret(adminToken))) !== null,
    (await findPrincipalByHash(database.db, hashSecret(apiKey))) !== null,
  ];

  test('a start that fails before it prints leaves none behind; printed ones are never replaced', async () => {
    const failed = start();
    const unseen = await failed.issue();
    await failed.close();
    const gateway = start();
    const seen = await gateway.issue();
    expect([await isValid(unseen), await isValid(seen)]).toEqual([
      [false, false],
      [true, true],
    ]);
    await gateway.keep();
    for (let restart = 0; restart < 2; restart++) {
      const again = start();
      expect(await again.issue()).toEqual({});
      await again.keep();
      await again.close();
    }
    expect(await isValid(seen)).toEqual([true, true]);
  });
});
