import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createSecretVault, type SecretVault } from '@llm0/core/keys/secret-vault';
import { findSealedByOthers, replaceSealed } from '@llm0/drizzle/queries/access/sealed-secrets';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

const [OLD, NEW, LOST] = [1, 2, 3].map((fill) => new Uint8Array(32).fill(fill)) as [Uint8Array, Uint8Array, Uint8Array];
/** As the process is restarted with other keys. */
let current: SecretVault = createSecretVault(OLD);
const vault: SecretVault = {
  get keyId() {
    return current.keyId;
  },
  seal: (secret, place) => current.seal(secret, place),
  open: (sealed, place) => current.open(sealed, place),
};
const KEYS = 230;

describe.each(ON_ONE_DATABASE)('the encryption key on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    current = createSecretVault(OLD);
    admin = await openAdmin(kind, { vault });
  }, 60_000);
  afterAll(() => admin.close());

  /** Every secret that is stored, with the key that sealed it. */
  const stored = async () => {
    const { db } = admin.database;
    const found = [];
    for (let table = 0, afterId: string | undefined; ; ) {
      const { rows, next } = await findSealedByOthers(db, 'none', { table, afterId }, 1000);
      found.push(...rows);
      if (next === null) return found;
      ({ table, afterId } = next);
    }
  };
  const insertSealed = async (table: string, column: string, more: Readonly<Record<string, string>>, by = current) => {
    const id = crypto.randomUUID();
    const { bytes, keyId } = by.seal(`secret of ${table}`, id);
    const names = sql.raw(['id', column, 'encryption_key_id', ...Object.keys(more)].join(', '));
    const values = Object.values(more).map((value) => sql`, ${value}`);
    await admin.database.db.execute(
      sql`insert into ${sql.raw(table)} (${names}) values (${id}, decode(${Buffer.from(bytes).toString('hex')}, 'hex'), ${keyId}${sql.join(values)})`,
    );
    return id;
  };
  const reencrypt = async () => {
    const sum = { reencrypted: 0, unreadable: 0, calls: 0 };
    for (let after: string | null = null; ; ) {
      const { status, body } = await admin.call('POST', '/secrets/reencrypt', { body: { after } });
      expect(status).toBe(200);
      sum.reencrypted += body.reencrypted;
      sum.unreadable += body.unreadable;
      sum.calls += 1;
      after = body.next;
      if (after === null) return sum;
    }
  };

  test('every secret is sealed with the new key, batch by batch; what no key opens stays', async () => {
    const keyed = { provider: 'openai', name: 'k', last_characters: '' };
    for (let i = 0; i < KEYS; i++) await insertSealed('provider_keys', 'encrypted_key', keyed);
    const lost = await insertSealed('provider_keys', 'encrypted_key', keyed, createSecretVault(LOST));
    await insertSealed('providers', 'encrypted_headers', { name: 'p', kind: 'openai' });
    await insertSealed('backends', 'encrypted_headers', { name: 'b', url: 'http://b.test' });
    const server_id = await insertSealed('mcp_servers', 'encrypted_secrets', { alias: 'm', transport: 'http' });
    const api_key_id = crypto.randomUUID();
    const owner = { server_id, api_key_id };
    await insertSealed('mcp_grants', 'encrypted_tokens', { ...owner, issuer: 'i' });
    await insertSealed('mcp_oauth_clients', 'encrypted_client', { server_id, issuer: 'i', redirect_url: 'r' });
    const expires_at = '2100-01-01T00:00:00Z';
    await insertSealed('mcp_consents', 'encrypted_flow', { ...owner, ticket_hash: 't', expires_at });
    const before = await stored();
    expect(before).toHaveLength(KEYS + 7);

    current = createSecretVault(NEW, [OLD]);
    const { reencrypted, unreadable, calls } = await reencrypt();
    expect([reencrypted, unreadable, calls > 8]).toEqual([KEYS + 6, 1, true]);
    const onlyNew = createSecretVault(NEW);
    for (const row of await stored()) {
      if (row.id !== lost) expect(onlyNew.open(row, row.id)).toStartWith('secret of ');
      else expect([row]).toEqual(before.filter(({ id }) => id === lost));
    }
    const { body: audit } = await admin.call('GET', '/audit?resource=secrets');
    expect(audit.data[0]).toMatchObject({ action: 'reencrypt', after: { key_id: onlyNew.keyId } });
    expect(await reencrypt()).toMatchObject({ reencrypted: 0, unreadable: 1 });
  }, 60_000);

  test('a secret that was changed meanwhile is not put back', async () => {
    const { db } = admin.database;
    const [row] = await stored();
    if (row === undefined) throw new Error('no secret');
    const fresh = current.seal('changed meanwhile', row.id);
    expect(await replaceSealed(db, row, fresh)).toBe(true);
    expect(await replaceSealed(db, row, current.seal('of before', row.id))).toBe(false);
    const now = (await stored()).find(({ id }) => id === row.id);
    expect(now && current.open(now, now.id)).toBe('changed meanwhile');
  });

  test('odd cursors are refused', async () => {
    for (const after of ['x', '1:', '1:1', '100', "1:' or 1=1"]) {
      expect((await admin.call('POST', '/secrets/reencrypt', { body: { after } })).status).toBe(400);
    }
    const { body } = await admin.call('POST', '/secrets/reencrypt', { body: { after: '99' } });
    expect(body).toEqual({ reencrypted: 0, unreadable: 0, next: null });
  });
});
