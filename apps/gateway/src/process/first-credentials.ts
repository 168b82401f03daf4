// Postgres unreachable when the first use is noted: it is noted at the next one.
import { createKeySecret } from '@llm0/core/keys/key-secret';
import { createSessionLocks, type Database, type Db } from '@llm0/drizzle/client';
import { countAdminTokens, revokeAdminToken, tokenRows } from '@llm0/drizzle/queries/access/admin-tokens';
import { keyRows } from '@llm0/drizzle/queries/access/api-keys';
import { projectRows } from '@llm0/drizzle/queries/access/projects';
import { deleteSetting, getSetting, lockUntilCommit, putSetting } from '@llm0/drizzle/queries/settings';
import { createAdminSecret } from '../admin/access/admin-token';
import type { Config } from '../config/config';

/** Secrets of the first start: shown until one of them is used, only their hashes are kept. */
export interface FirstSecrets {
  readonly adminToken?: string;
  readonly apiKey?: string;
}

const BOOTSTRAPPED = 'bootstrapped';
/** Ids of what was shown and not used yet. */
const UNUSED = 'first_credentials';
/** Any constants: all gateways of one database take the same locks. */
const BOOTSTRAP_LOCK = 7_107_330_006;
const SHOWN_LOCK = 7_107_330_005;
const FIRST_KEY_REQUESTS_PER_MINUTE = 6000;

type Unused = { readonly token?: string; readonly project?: string; readonly key?: string };

/**
 * The `default` project, its first key and (without ADMIN_TOKEN) an admin token. Whoever missed them gets new ones at the
 * next start, in place of those nobody has used; while a gateway runs that has shown them, no other one replaces them.
 */
export class FirstCredentials {
  private unused: Unused = {};
  private readonly shown: ReturnType<typeof createSessionLocks<'shown'>>;
  private readonly db: Db;

  constructor(
    database: Pick<Database, 'db'>,
    private readonly config: Pick<Config, 'adminToken' | 'databaseUrl' | 'showsCredentials'>,
  ) {
    this.db = database.db;
    this.shown = createSessionLocks(config.databaseUrl, { shown: SHOWN_LOCK });
  }

  /** What this start has to show: nothing once anything was used. */
  async issue(): Promise<FirstSecrets> {
    const isIssuer = this.config.showsCredentials && (await this.shown.tryLead('shown'));
    const { unused, secrets } = await this.db.transaction((tx) => this.issueWithin(tx, isIssuer));
    this.unused = unused;
    if (isAllUsed(unused)) await this.shown.stopLeading();
    return secrets;
  }

  private async issueWithin(tx: Db, isIssuer: boolean): Promise<{ unused: Unused; secrets: FirstSecrets }> {
    await lockUntilCommit(tx, BOOTSTRAP_LOCK);
    const before = ((await getSetting(tx, UNUSED)) ?? {}) as Unused;
    if (!isIssuer) return { unused: before, secrets: {} };
    const token = await this.issueToken(tx, before);
    const key = await issueKey(tx, before);
    const unused = { ...(token && { token: token.id }), ...(key && { project: key.projectId, key: key.id }) };
    if (isAllUsed(unused)) return { unused, secrets: {} };
    await putSetting(tx, UNUSED, unused);
    return { unused, secrets: { adminToken: token?.secret, apiKey: key?.secret } };
  }

  private async issueToken(tx: Db, { token }: Unused) {
    if (token !== undefined) await revokeAdminToken(tx, token);
    if (this.config.adminToken !== undefined || (await countAdminTokens(tx)) > 0) return undefined;
    const { secret, hash, prefix } = createAdminSecret();
    const { id } = await tokenRows.create(tx, { name: 'first', role: 'admin', hash, prefix });
    return { id, secret };
  }

  /** Somebody has signed in: they can make keys and tokens. */
  async noteSignIn(): Promise<void> {
    if (!isAllUsed(this.unused)) await this.noteUse();
  }

  /** A key has been looked up for the first time in this process: another one may have shown it since. */
  async noteKey(keyId: string): Promise<void> {
    if (!isAllUsed(this.unused)) await this.noteUse({ key: keyId });
  }

  private async noteUse(used: Unused = {}): Promise<void> {
    try {
      if (!(await deleteSetting(this.db, UNUSED, used)) && used.key !== undefined) return;
    } catch {
      return;
    }
    this.unused = {};
    // A request is waiting, and not for this.
    this.shown.stopLeading().catch(() => {});
  }

  close(): Promise<void> {
    return this.shown.stopLeading();
  }
}

const isAllUsed = (unused: Unused) => unused.token === undefined && unused.key === undefined;

/** In place of the unused one; the very first with its project. A key that an operator deleted is not made again. */
async function issueKey(tx: Db, { project, key }: Unused) {
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
