import type { HotStore } from '@llm0/core/limits/hot-store';
import type { StoredApiKey } from '@llm0/drizzle/queries/access/api-keys';

/** After the commit: the next request with one of these keys reads it again. */
export async function raiseVersions(
  hotStore: Pick<HotStore, 'setVersions'>,
  keys: readonly Pick<StoredApiKey, 'id' | 'projectId' | 'version'>[],
): Promise<void> {
  for (const { id: keyId, projectId, version } of keys) {
    await hotStore.setVersions(projectId, null, [{ keyId, version }]);
  }
}
