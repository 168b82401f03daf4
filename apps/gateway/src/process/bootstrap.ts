import { createKeySecret, hashSecret } from '@llm0/core/keys/key-secret';
import type { Db } from '@llm0/drizzle/client';
import { countAdminTokens, tokenRows } from '@llm0/drizzle/queries/access/admin-tokens';
import { keyRows } from '@llm0/drizzle/queries/access/api-keys';
import { projectRows } from '@llm0/drizzle/queries/access/projects';
import { getSetting, lockUntilCommit, putSetting } from '@llm0/drizzle/queries/settings';

/** Secrets made at the very first start: shown once, only their hashes are kept. */
export interface FirstSecrets {
  readonly adminToken?: string;
  readonly apiKey?: string;
}

const BOOTSTRAPPED = 'bootstrapped';
/** Any constant: all gateways of one database take the same lock. */
const BOOTSTRAP_LOCK = 7_107_330_003;
const ADMIN_TOKEN_BYTES = 24;
const FIRST_KEY_REQUESTS_PER_MINUTE = 6000;

/** Makes the `default` project, its first key and (without ADMIN_TOKEN) an admin token, once per database. */
export async function bootstrap(db: Db, options: { readonly hasAdminToken: boolean }): Promise<FirstSecrets> {
  return db.transaction(async (tx) => {
    await lockUntilCommit(tx, BOOTSTRAP_LOCK);
    const adminToken = options.hasAdminToken || (await countAdminTokens(tx)) > 0 ? undefined : await makeAdminToken(tx);
    if ((await getSetting(tx, BOOTSTRAPPED)) !== undefined) return { adminToken };
    const project = await projectRows.create(tx, { name: 'default' });
    const secret = createKeySecret();
    await keyRows.create(tx, {
      projectId: project.id,
      name: 'default',
      hash: secret.hash,
      prefix: secret.prefix,
      rateLimitPerMinute: FIRST_KEY_REQUESTS_PER_MINUTE,
    });
    await putSetting(tx, BOOTSTRAPPED, true);
    return { adminToken, apiKey: secret.secret };
  });
}

async function makeAdminToken(db: Db): Promise<string> {
  const token = `llm0_admin_${Buffer.from(crypto.getRandomValues(new Uint8Array(ADMIN_TOKEN_BYTES))).toString('hex')}`;
  await tokenRows.create(db, { name: 'first', role: 'admin', hash: hashSecret(token), prefix: token.slice(0, 17) });
  return token;
}
