// Without Redis, every method throws within its deadline; callers then refuse by local data.
import { inTime } from '../../async/in-time';
import type { PrincipalVersions, StalePart, TablesVersion } from '../hot-store';
import { storeUnavailable } from '../store-unavailable';
import { projectKey } from './keys';
import type { RedisLink } from './link';
import { runScript } from './scripts';

/** Versions of keys, projects and tables that `lua/admit.lua` compares; set and read outside of it. */
export class RedisVersions implements TablesVersion {
  /** `deadlineMs`: time limit of an admission. */
  constructor(
    private readonly link: RedisLink,
    private readonly deadlineMs: number,
  ) {}

  async setVersions(
    projectId: string,
    projectVersion: number | null,
    keys: readonly { keyId: string; version: number }[],
  ): Promise<void> {
    const shard = this.link.keysOf(projectId);
    const fields = keys.flatMap(({ keyId, version }) => [`k:${keyId}`, version]);
    if (projectVersion !== null) fields.push('p', projectVersion);
    await runScript(this.link.client, 'setVersions', [
      projectKey(shard, projectId),
      shard.projects,
      projectId,
      ...fields,
    ]);
  }

  async findStale({ projectId, keyId, projectVersion, keyVersion }: PrincipalVersions): Promise<readonly StalePart[]> {
    if (!this.link.isOpen) throw storeUnavailable('the store is not ready');
    const shard = this.link.keysOf(projectId);
    const { client } = this.link;
    // State before the refusal: data loaded meanwhile counts as new.
    const known = shard.known.tables;
    const asked = Promise.all([
      client.hmget(projectKey(shard, projectId), 'p', `k:${keyId}`),
      client.get(shard.tables),
    ]);
    const [[project, key], tables] = await inTime(asked, this.deadlineMs, () => {
      throw storeUnavailable(`no answer within ${this.deadlineMs} ms`);
    });
    const isSame = project === String(projectVersion) && key === String(keyVersion);
    const stale: StalePart[] = isSame ? [] : ['principal'];
    if ((tables ?? '') !== known) stale.push('tables');
    return stale;
  }

  async raise(): Promise<void> {
    await Promise.all(this.link.shards.map((shard) => this.link.client.incr(shard.tables)));
  }

  async refresh(read: () => Promise<void>): Promise<void> {
    const versions = await Promise.all(this.link.shards.map((shard) => this.link.client.get(shard.tables)));
    await read();
    this.link.tablesRead(versions.map((version) => version ?? ''));
  }
}
