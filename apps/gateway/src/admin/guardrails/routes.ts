import { z } from '@hono/zod-openapi';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import { findHolding } from '@llm0/core/guardrails/check-policy';
import type { GuardrailRule } from '@llm0/core/guardrails/policy';
import { tryRules } from '@llm0/core/guardrails/try-rules';
import type { Db } from '@llm0/drizzle/client';
import {
  findGuardrails,
  findGuardrailsVersion,
  listGuardrailVersions,
  type NewGuardrails,
  type StoredGuardrails,
  saveGuardrails,
} from '@llm0/drizzle/queries/access/guardrails';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { count, id, pageOf, pageQuery } from '../fields/fields';
import { required, requireProject } from '../fields/find-or-refuse';
import { type RuleNeeds, refuseRules, refuseSharedNames } from './refuse-rules';
import {
  NO_GUARDRAILS,
  policySchema,
  showGuardrails,
  shownPolicySchema,
  showVersion,
  triedSchema,
  tryoutSchema,
  versionSchema,
} from './schema';

const at = routesOf('guardrails');
const params = z.object({ id });
const PATH = '/projects/{id}/guardrails';

const show = defineRoute({
  ...at('get', PATH, "Show a project's guardrails"),
  request: { params },
  responses: { 200: answers(shownPolicySchema, 'The guardrails') },
});
const put = defineRoute({
  ...at('put', PATH, "Replace a project's guardrails, from the next request"),
  request: { params, body: takes(policySchema) },
  responses: { 200: answers(shownPolicySchema, 'The guardrails as they are now') },
});
const versions = defineRoute({
  ...at('get', `${PATH}/versions`, "List the versions of a project's guardrails, newest first"),
  request: { params, query: z.strictObject(pageQuery) },
  responses: { 200: answers(pageOf(versionSchema), 'Versions') },
});
const rollback = defineRoute({
  ...at('post', `${PATH}/rollback`, 'Restore an earlier version as a new one'),
  request: { params, body: takes(z.strictObject({ version: count(1, Number.MAX_SAFE_INTEGER) })) },
  responses: { 200: answers(shownPolicySchema, 'The guardrails as they are now') },
});
const tryout = defineRoute({
  ...at('post', `${PATH}/try`, 'Test the rules on a text; nothing is sent, stored or logged'),
  request: { params, body: takes(tryoutSchema) },
  responses: { 200: answers(triedSchema, 'Findings of each rule, and the resulting text') },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore'> & RuleNeeds;

/** Routes that test rules. */
export function guardrailTryoutRoutes(services: Needs) {
  const { db, guardrailChecks } = services;
  return createRouter().openapi(tryout, async (c) => {
    const { id: projectId } = c.req.valid('param');
    const { text, on, part = on === 'input' ? 'user' : 'assistant', rules } = c.req.valid('json');
    const project = await requireProject(db, projectId);
    if (rules !== undefined) await refuseRules(services, { rules, project });
    const tried = rules ?? (await findGuardrails(db, projectId))?.rules ?? [];
    const { blockedBy, ...result } = await tryRules({
      rules: tried,
      checks: guardrailChecks,
      text,
      on,
      part,
      projectId,
    });
    return c.json({ ...result, rules: [...result.rules], blocked_by: blockedBy }, 200);
  });
}

export function guardrailRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db, hotStore, guardrailChecks } = services;
  const holdingOf = ({ rules, mode }: Pick<StoredGuardrails, 'rules' | 'mode'>) =>
    findHolding(rules, guardrailChecks, mode === 'shadow');
  const shown = (stored: StoredGuardrails) => showGuardrails(stored, holdingOf(stored));
  const changes = new AuditedChanges(db, {
    resource: 'guardrails',
    idOf: (stored: StoredGuardrails) => stored.projectId,
    show: shown,
    goLive: ({ projectId, projectVersion }) =>
      mirror.apply(`project ${projectId}`, () => hotStore.setVersions(projectId, projectVersion, [])),
  });
  const refuseAll = async (projectId: string, rules: readonly GuardrailRule[]) => {
    const asked = { rules, project: await requireProject(db, projectId) };
    await refuseRules(services, asked);
    await refuseSharedNames(services, asked, 'project');
  };
  return createRouter()
    .openapi(show, async (c) => {
      const { id: projectId } = c.req.valid('param');
      await requireProject(db, projectId);
      return c.json(shown(await findOrNone(db, projectId)), 200);
    })
    .openapi(put, async (c) => {
      const { id: projectId } = c.req.valid('param');
      const { mode, rules, pseudonym_scope: pseudonymScope, version } = c.req.valid('json');
      await refuseAll(projectId, rules);
      const actor = c.get('actor');
      const policy: NewGuardrails = {
        projectId,
        createdBy: actor.name,
        mode,
        rules,
        pseudonymScope,
        replaces: version,
      };
      const write = (tx: Db) => saveGuardrails(tx, policy);
      return c.json(shown(await changes.put(actor, (tx) => findOrNone(tx, projectId), write)), 200);
    })
    .openapi(versions, async (c) => {
      const { id: projectId } = c.req.valid('param');
      const { limit, cursor } = c.req.valid('query');
      await requireProject(db, projectId);
      const before = cursor === undefined ? undefined : readCursor(cursor);
      const found = await listGuardrailVersions(db, projectId, { limit: limit + 1, before });
      const page = found.slice(0, limit);
      const next = found.length > limit ? String(page.at(-1)?.version) : null;
      return c.json({ data: page.map((one) => showVersion(one, holdingOf(one))), next_cursor: next }, 200);
    })
    .openapi(rollback, async (c) => {
      const { id: projectId } = c.req.valid('param');
      const { version } = c.req.valid('json');
      const actor = c.get('actor');
      const found = await findGuardrailsVersion(db, projectId, version);
      const { mode, rules, pseudonymScope } = required(found, 'version of the guardrails');
      await refuseAll(projectId, rules);
      const write = (tx: Db) => saveGuardrails(tx, { projectId, createdBy: actor.name, mode, rules, pseudonymScope });
      return c.json(shown(await changes.put(actor, (tx) => findOrNone(tx, projectId), write)), 200);
    });
}

/** Current guardrails, or the default for a project without any; its entity tag counts as well. */
async function findOrNone(db: Db, projectId: string): Promise<StoredGuardrails> {
  const found = await findGuardrails(db, projectId);
  return found ?? { ...NO_GUARDRAILS, projectId, createdBy: '', createdAtMs: 0, projectVersion: 0 };
}

function readCursor(cursor: string): number {
  const version = Number(cursor);
  if (Number.isSafeInteger(version) && version > 0) return version;
  throw invalidRequest('cursor', 'cursor must be the next_cursor of the page before.');
}
