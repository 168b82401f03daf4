// Without Postgres, the look-up throws; the key cache serves its entries.
import type { GuardrailPolicy } from '@llm0/core/guardrails/policy';
import type { ApiKey, Project } from '@llm0/core/keys/api-key';
import { and, eq, type SQL } from 'drizzle-orm';
import type { Db } from '../../client';
import { apiKeys } from '../../schema/api-keys';
import { guardrails } from '../../schema/guardrails';
import { projects } from '../../schema/projects';
import { keyRows } from './api-keys';
import { POLICY_COLUMNS } from './guardrails';
import { projectRows } from './projects';

/** Key and project as they are stored, with the project's guardrails (null = none was ever saved). */
export interface StoredPrincipal {
  readonly key: ApiKey;
  readonly project: Project;
  readonly policy: GuardrailPolicy | null;
  /** Secret for the project's pseudonyms. */
  readonly pseudonymSecret: string;
}

/**
 * Key and project in one query, by lower-case hex SHA-256 of the secret. Includes revoked, deleted and inactive ones
 * (`isActive` false), so that the caller can explain. null = unknown.
 */
export function findPrincipalByHash(db: Db, hash: string): Promise<StoredPrincipal | null> {
  return find(db, eq(apiKeys.hash, hash));
}

export function findPrincipalByKeyId(db: Db, keyId: string): Promise<StoredPrincipal | null> {
  return find(db, eq(apiKeys.id, keyId));
}

async function find(db: Db, condition: SQL): Promise<StoredPrincipal | null> {
  const isInForce = and(eq(guardrails.projectId, projects.id), eq(guardrails.version, projects.guardrailsVersion));
  const [row] = await db
    .select({
      key: keyRows.columns,
      project: projectRows.columns,
      policy: POLICY_COLUMNS,
      pseudonymSecret: projects.pseudonymSecret,
    })
    .from(apiKeys)
    .innerJoin(projects, eq(projects.id, apiKeys.projectId))
    .leftJoin(guardrails, isInForce)
    .where(condition);
  return row ?? null;
}
