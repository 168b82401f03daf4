import { createKeySecret } from '@llm0/core/keys/api-key';
import { createSessionLocks, type Database, type Db } from '@llm0/drizzle/client';
import { countAdminTokens, revokeAdminToken, tokenRows } from '@llm0/drizzle/queries/access/admin-tokens';
import { keyRows } from '@llm0/drizzle/queries/access/api-keys';
import { projectRows } from '@llm0/drizzle/queries/access/projects';
import { deleteSetting, getSetting, lockUntilCommit, putSetting } from '@llm0/drizzle/queries/settings';
import { createAdminSecret } from '../admin/access/admin-token';
import type { Config } from '../config/config';

/** Secrets of the first start: printed once; the store has only their hashes. */
export interface FirstSecrets {
  readonly adminToken?: string;
  readonly apiKey?: string;
}

const BOOTSTRAPPED = 'bootstrapped';
/** Ids of created but unprinted credentials. */
const UNPRINTED = 'unprinted_credentials';
/** Any constants: all gateways of one database take the same locks. */
const BOOTSTRAP_LOCK = 7_107_330_006;
const PRINTING_LOCK = 7_107_330_005;
const FIRST_KEY_REQUESTS_PER_MINUTE = 6000;

type Unprinted = { readonly token?: string; readonly project?: string; readonly key?: string };

/**
 * The `default` project, its first key and (without ADMIN_TOKEN) an admin token. Printed secrets stay valid. A start
 * that failed before printing leaves unknown secrets; the next start replaces them.
 */
export class FirstCredentials {
  private readonly locks: ReturnType<typeof createSessionLocks<'printing'>>;
  private readonly db: Db;
  private isPrinting = false;

  constructor(
    database: Pick<Database, 'db'>,
    private readonly config: Pick<Config, 'adminToken' | 'databaseUrl' | 'showsCredentials'>,
  ) {
    this.db = database.db;
    this.locks = createSessionLocks(config.databaseUrl, { printing: PRINTING_LOCK });
  }

  /** Credentials to print; call `keep` first. */
  async issue(): Promise<FirstSecrets> {
    if (!this.config.showsCredentials || !(await this.locks.tryLead('printing'))) return {};
    const secrets = await this.db.transaction((tx) => this.issueWithin(tx));
    this.isPrinting = secrets.adminToken !== undefined || secrets.apiKey !== undefined;
    if (!this.isPrinting) await this.locks.stopLeading();
    return secrets;
  }

  /** Marks them valid; call right before printing. */
  async keep(): Promise<void> {
    if (!this.isPrinting) return;
    this.isPrinting = false;
    await deleteSetting(this.db, UNPRINTED);
    await this.locks.stopLeading();
  }

  close(): Promise<void> {
    return this.locks.stopLeading();
  }

  private async issueWithin(tx: Db): Promise<FirstSecrets> {
    await lockUntilCommit(tx, BOOTSTRAP_LOCK);
    const before = ((await getSetting(tx, UNPRINTED)) ?? {}) as Unprinted;
    const token = await this.issueToken(tx, before);
    const key = await issueKey(tx, before);
    if (token === undefined && key === undefined) return {};
    await putSetting(tx, UNPRINTED, {
      ...(token && { token: token.id }),
      ...(key && { project: key.projectId, key: key.id }),
    });
    return { adminToken: token?.secret, apiKey: key?.secret };
  }

  /** Issues a token if nobody could sign in otherwise. */
  private async issueToken(tx: Db, { token }: Unprinted) {
    if (token !== undefined) await revokeAdminToken(tx, token);
    if (this.config.adminToken !== undefined || (await countAdminTokens(tx)) > 0) return undefined;
    const { secret, hash, prefix } = createAdminSecret();
    const { id } = await tokenRows.create(tx, { name: 'first', role: 'admin', hash, prefix });
    return { id, secret };
  }
}

/** Replaces an unprinted key; the first one comes with its project. */
async function issueKey(tx: Db, { project, key }: Unprinted) {
  const isFirst = (await getSetting(tx, BOOTSTRAPPED)) === undefined;
  if (!isFirst && (project === undefined || key === undefined)) return undefined;
  if (
    project !== undefined &&
    key !== undefined &&
    (await keyRows.delete(tx, { projectId: project, id: key })) === null
  ) {
    return undefined;
  }
  const projectId = project ?? (await projectRows.create(tx, { name: 'default' })).id;
  const { secret, hash, prefix } = createKeySecret();
  const settings = { name: 'default', rateLimitPerMinute: FIRST_KEY_REQUESTS_PER_MINUTE };
  const { id } = await keyRows.create(tx, { projectId, hash, prefix, ...settings });
  if (isFirst) await putSetting(tx, BOOTSTRAPPED, true);
  return { id, projectId, secret };
}
