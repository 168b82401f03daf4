import { resolve } from 'node:path';
import { openDatabase } from '@llm0/drizzle/open-database';
import { revokeAdminTokens, tokenRows } from '@llm0/drizzle/queries/access/admin-tokens';
import { addAuditEntry } from '@llm0/drizzle/queries/access/audit-trail';
import { createAdminSecret } from '../admin/access/admin-token';
import type { Config } from '../config/config';
import { withOwnSchema } from '../services/check-stores';

/** Default token names: after a loss, nobody knows who found the token. */
const FIRST = 'first';
const RESET = 'reset';

/** Makes a token with all rights, and revokes those made at the first start and by earlier resets. */
export async function resetAdminToken(config: Config, onWarning: (message: string) => void): Promise<string> {
  const { databaseUrl, dataDir } = await withOwnSchema(config, () => {});
  const database = await openDatabase({ databaseUrl, dataDir: resolve(dataDir), onWarning });
  try {
    return await database.db.transaction(async (tx) => {
      await revokeAdminTokens(tx, [FIRST, RESET]);
      const { secret, hash, prefix } = createAdminSecret();
      const { id } = await tokenRows.create(tx, { name: RESET, role: 'admin', hash, prefix });
      await addAuditEntry(tx, { actor: 'terminal', action: 'reset', resource: 'token', resourceId: id });
      return secret;
    });
  } finally {
    await database.close();
  }
}
