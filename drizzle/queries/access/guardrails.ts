import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { GuardrailPolicy } from '@llm0/core/guardrails/policy';
import { and, desc, eq, isNull, lt, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { apiKeys } from '../../schema/api-keys';
import { guardrails } from '../../schema/guardrails';
import { projects } from '../../schema/projects';

/** A version of a project's guardrails with its author. */
export interface StoredGuardrails extends GuardrailPolicy {
  readonly projectId: string;
  readonly createdBy: string;
  readonly createdAtMs: number;
  /** The version of its project by which processes learn of a change. */
  readonly projectVersion: number;
}

const KEPT_VERSIONS = 200;

/** Columns of a policy as requests obey it. */
export const POLICY_COLUMNS = {
  mode: guardrails.mode,
  rules: guardrails.rules,
  pseudonymScope: guardrails.pseudonymScope,
  version: guardrails.version,
};

const SHOWN = {
  ...POLICY_COLUMNS,
  projectId: guardrails.projectId,
  createdBy: guardrails.createdBy,
  createdAtMs: guardrails.createdAtMs,
  projectVersion: projects.version,
};

const isInForce = and(eq(guardrails.projectId, projects.id), eq(guardrails.version, projects.guardrailsVersion));
const isLive = isNull(projects.deletedAtMs);

/** Current version; null without one, or without the project. */
export async function findGuardrails(db: Db, projectId: string): Promise<StoredGuardrails | null> {
  const [row] = await db
    .select(SHOWN)
    .from(guardrails)
    .innerJoin(projects, isInForce)
    .where(and(eq(projects.id, projectId), isLive));
  return row ?? null;
}

export async function findGuardrailsVersion(
  db: Db,
  projectId: string,
  version: number,
): Promise<StoredGuardrails | null> {
  const [row] = await db
    .select(SHOWN)
    .from(guardrails)
    .innerJoin(projects, eq(projects.id, guardrails.projectId))
    .where(and(eq(guardrails.projectId, projectId), eq(guardrails.version, version), isLive));
  return row ?? null;
}

export interface VersionPage {
  readonly limit: number;
  /** Only earlier versions. */
  readonly before?: number;
}

/** Newest first. */
export async function listGuardrailVersions(
  db: Db,
  projectId: string,
  { limit, before }: VersionPage,
): Promise<readonly StoredGuardrails[]> {
  const isBefore = before === undefined ? undefined : lt(guardrails.version, before);
  return db
    .select(SHOWN)
    .from(guardrails)
    .innerJoin(projects, eq(projects.id, guardrails.projectId))
    .where(and(eq(guardrails.projectId, projectId), isLive, isBefore))
    .orderBy(desc(guardrails.version))
    .limit(limit);
}

export interface NewGuardrails extends Omit<GuardrailPolicy, 'version'> {
  readonly projectId: string;
  readonly createdBy: string;
  /** Expected current version; throws `conflict` if another one is in force. */
  readonly replaces?: number;
}

/**
 * Saves the next version, in force at commit. Locks the project's row, so versions count up by one. Keeps the last 200.
 * Throws `not_found` for an unknown project.
 */
export async function saveGuardrails(
  tx: Db,
  { projectId, replaces, ...policy }: NewGuardrails,
): Promise<StoredGuardrails> {
  const [project] = await tx
    .select({ version: projects.guardrailsVersion })
    .from(projects)
    .where(and(eq(projects.id, projectId), isLive))
    .for('update');
  if (project === undefined) throw new GatewayError('not_found', 'There is no such project.');
  const current = project.version ?? 0;
  if (replaces !== undefined && replaces !== current) {
    const message = `These guardrails were changed meanwhile: version ${current} is in force, not ${replaces}.`;
    throw new GatewayError('conflict', message, { param: 'version' });
  }
  const version = current + 1;
  await tx.insert(guardrails).values({ ...policy, projectId, version });
  await tx.update(projects).set({ guardrailsVersion: version }).where(eq(projects.id, projectId));
  await tx
    .delete(guardrails)
    .where(and(eq(guardrails.projectId, projectId), lt(guardrails.version, sql`${version - KEPT_VERSIONS}::bigint`)));
  const saved = await findGuardrails(tx, projectId);
  if (saved === null) throw new Error('the guardrails that were saved are not there');
  return saved;
}

/** The first live key of a project that has a rule of one of these names, and which; null where none has. */
export async function findKeyWithRule(
  db: Db,
  projectId: string,
  names: readonly string[],
): Promise<{ readonly keyName: string; readonly rule: string } | null> {
  const given = sql.join(
    names.map((name) => sql`${name}`),
    sql`, `,
  );
  const own = sql`select rule->>'name' from jsonb_array_elements(${apiKeys.guardrailRules}) rule where rule->>'name' in (${given}) limit 1`;
  const [found] = await db
    .select({ keyName: apiKeys.name, rule: sql<string>`(${own})` })
    .from(apiKeys)
    .where(and(eq(apiKeys.projectId, projectId), isNull(apiKeys.deletedAtMs), sql`exists (${own})`))
    .limit(1);
  return found ?? null;
}
