// Postgres unreachable: the look-up throws; the key cache keeps serving the keys it has.
import type { Principal } from '@llm0/core/keys/api-key';
import { eq, type SQL } from 'drizzle-orm';
import type { Db } from '../../client';
import { apiKeys } from '../../schema/api-keys';
import { projects } from '../../schema/projects';
import { keyRows } from './api-keys';
import { projectRows } from './projects';

/**
 * Key and project in one query, by the lower-case hex SHA-256 of the secret. Revoked and deleted keys and inactive
 * projects are found (with `isActive` false): the caller says why they are refused. null = no such key.
 */
export function findPrincipalByHash(db: Db, hash: string): Promise<Principal | null> {
  return find(db, eq(apiKeys.hash, hash));
}

export function findPrincipalByKeyId(db: Db, keyId: string): Promise<Principal | null> {
  return find(db, eq(apiKeys.id, keyId));
}

async function find(db: Db, condition: SQL): Promise<Principal | null> {
  const [row] = await db
    .select({ key: keyRows.columns, project: projectRows.columns })
    .from(apiKeys)
    .innerJoin(projects, eq(projects.id, apiKeys.projectId))
    .where(condition);
  return row ?? null;
}
