import { z } from '@hono/zod-openapi';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import type { GuardrailRule } from '@llm0/core/guardrails/policy';
import { createKeySecret, keySecretOf } from '@llm0/core/keys/api-key';
import type { Db } from '@llm0/drizzle/client';
import {
  deleteApiKey,
  isPreviousSecret,
  keyRows,
  listApiKeys,
  listKeyNames,
  needsApproval,
  rotateApiKey,
  type StoredApiKey,
} from '@llm0/drizzle/queries/access/api-keys';
import { loadKeyUsage } from '@llm0/drizzle/queries/access/key-usage';
import { followRole } from '@llm0/drizzle/queries/access/may-use';
import { userRows } from '@llm0/drizzle/queries/access/users';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { Actor, AdminServices } from '../admin-services';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageOf, pageQuery, projectIds, showPage, text } from '../fields/fields';
import { required, requireProject } from '../fields/find-or-refuse';
import { readFields, showFields } from '../fields/map-fields';
import { loadSpendByDay, spendDays } from '../fields/spend-days';
import { type RuleNeeds, refuseRules, refuseSharedNames } from '../guardrails/refuse-rules';
import { LevelLimits } from '../teams/level-limits';
import { boundsAfter, refuseProjectLabels, refuseSuspended, settingsWithin, writeBounds } from './bounds';
import { changeKey, createKeyChanges, findKey, keyPath, refuseDefaultAboveMost } from './key-changes';
import {
  keyChangesSchema,
  keySchema,
  keyWithSecretSchema,
  listedKeySchema,
  newKeySchema,
  rotationSchema,
  showKey,
  showListedKey,
  toNewKeySettings,
} from './schema';

const at = routesOf('keys');
const MAX_NAMES = 100;
const keyNameSchema = z.object({ id, project_id: id, name: z.string() });
const keyParams = z.object({ id, key_id: id });

const create = defineRoute({
  ...at('post', '/projects/{id}/keys', 'Create a key; the secret is shown once'),
  request: { params: z.object({ id }), body: takes(newKeySchema) },
  responses: { 201: answers(keyWithSecretSchema, 'The new key with its secret') },
});
const keyQuery = z.strictObject({
  q: text(256).optional().openapi({ description: 'Substring of the name, the first characters or a label' }),
  ...pageQuery,
});
const listQuery = keyQuery.extend({ spend_days: spendDays });
const list = defineRoute({
  ...at('get', '/projects/{id}/keys', "List the project's keys, newest first"),
  request: {
    params: z.object({ id }),
    query: listQuery,
  },
  responses: { 200: answers(pageOf(listedKeySchema), 'Keys, each with all it has been used for') },
});
const search = defineRoute({
  ...at('get', '/keys', 'Find keys of all projects by name, first characters or label, newest first'),
  request: {
    query: keyQuery.extend({
      project_id: projectIds,
      state: z.enum(['requested']).optional().openapi({ description: 'Only keys that wait for approval' }),
    }),
  },
  responses: { 200: answers(pageOf(keySchema), 'Keys') },
});
const names = defineRoute({
  ...at('get', '/key-names', 'Names of keys by id, deleted ones included'),
  request: {
    query: z.strictObject({
      ids: z
        .string()
        .max(MAX_NAMES * 37)
        .transform((value) => value.split(','))
        .pipe(z.array(id).max(MAX_NAMES))
        .openapi({ type: 'string', description: `Up to ${MAX_NAMES}, separated by commas` }),
      project_id: projectIds,
    }),
  },
  responses: {
    200: answers(z.object({ data: z.array(keyNameSchema) }), 'Those there are'),
  },
});
const show = defineRoute({
  ...at('get', '/projects/{id}/keys/{key_id}', 'Show a key'),
  request: { params: keyParams },
  responses: { 200: answers(keySchema, 'The key') },
});
const change = defineRoute({
  ...at('patch', '/projects/{id}/keys/{key_id}', 'Change the given fields, from the next request'),
  request: { params: keyParams, body: takes(keyChangesSchema) },
  responses: { 200: answers(keySchema, 'The key as it is now') },
});
const remove = defineRoute({
  ...at(
    'delete',
    '/projects/{id}/keys/{key_id}',
    'Revoke a key; it stops working with the next request, its logs stay',
  ),
  request: { params: keyParams },
  responses: { 204: { description: 'Revoked' } },
});
const rotate = defineRoute({
  ...at(
    'post',
    '/projects/{id}/keys/{key_id}/rotate',
    'Give the key a new secret; the old one works for grace_seconds, and one before it ends',
  ),
  request: { params: keyParams, body: { ...takes(rotationSchema), required: false } },
  responses: { 201: answers(keyWithSecretSchema, 'The key with its new secret') },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'clock'> & RuleNeeds;

async function refuseBadRules(
  services: RuleNeeds,
  projectId: string,
  { guardrail_rules: rules }: { readonly guardrail_rules?: readonly GuardrailRule[] | null },
): Promise<void> {
  if (rules === undefined || rules === null || rules.length === 0) return;
  const asked = { rules, project: await requireProject(services.db, projectId), field: 'guardrail_rules' };
  await refuseRules(services, asked);
  await refuseSharedNames(services, asked, 'key');
}

export function keyRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db, clock } = services;
  const changes = createKeyChanges(services, mirror);
  const limits = new LevelLimits(services.hotStore, mirror);
  return createRouter()
    .openapi(create, async (c) => {
      const { id: projectId } = c.req.valid('param');
      const body = c.req.valid('json');
      await refuseBadRules(services, projectId, body);
      const { secret, ...parts } = body.key === undefined ? createKeySecret() : keySecretOf(body.key);
      const owned = await ownedBy(services, c.get('actor'), { projectId, userId: body.user_id });
      const settings = { ...toNewKeySettings(body), ...parts, ...owned, projectId };
      const key = await changes.create(c.get('actor'), (tx) => insertKey(tx, c.get('actor'), settings));
      return c.json({ ...showKey(key), key: secret }, 201);
    })
    .openapi(list, async (c) => {
      const { id: projectId } = c.req.valid('param');
      await requireProject(db, projectId);
      return c.json(await listKeys(services, projectId, c.req.valid('query')), 200);
    })
    .openapi(search, async (c) => {
      const { project_id: projectId, state, ...query } = c.req.valid('query');
      const asked = { ...query, isRequested: state !== undefined };
      return c.json(showPage(await listApiKeys(db, projectId, asked), showKey), 200);
    })
    .openapi(names, async (c) => {
      const asked = c.req.valid('query');
      const found = await listKeyNames(db, asked.ids, asked.project_id);
      return c.json({ data: found.map((key) => showFields(keyNameSchema, key)) }, 200);
    })
    .openapi(show, async (c) => c.json(showKey(required(await findKey(db, keyPath(c.req.valid('param'))), 'key')), 200))
    .openapi(change, async (c) => {
      const at = keyPath(c.req.valid('param'));
      await refuseBadRules(services, at.projectId, c.req.valid('json'));
      const set = readFields(c.req.valid('json'));
      await refuseUnknownUser(db, set.userId);
      return c.json(showKey(await changeKey({ changes, limits }, c.get('actor'), { at, set })), 200);
    })
    .openapi(remove, async (c) => {
      const at = keyPath(c.req.valid('param'));
      const mayChangeAny = c.get('actor').may('change_keys');
      await changes.remove(
        c.get('actor'),
        (tx) => deleteApiKey(tx, at, { keepsBounds: !mayChangeAny }),
        async (tx) => (mayChangeAny ? findKey(tx, at) : refuseSuspended(await findKey(tx, at))),
      );
      return c.body(null, 204);
    })
    .openapi(rotate, async (c) => {
      const at = keyPath(c.req.valid('param'));
      const { secret, ...parts } = createKeySecret();
      await refuseWithoutStore(services);
      const graceMs = (c.req.valid('json')?.grace_seconds ?? 0) * 1000;
      const graceEndMs = graceMs === 0 ? null : clock.nowMs() + graceMs;
      const write = (tx: Db) => rotateApiKey(tx, at, { ...parts, graceEndMs });
      const find = async (tx: Db) => refuseSignOn(await findKey(tx, at));
      const key = await changes.update(c.get('actor'), find, write, 'rotate');
      return c.json({ ...showKey(key), key: secret }, 201);
    });
}

/** A page of keys with their use, and the days of their spend if asked for. */
async function listKeys(
  { db, clock }: Pick<Needs, 'db' | 'clock'>,
  projectId: string,
  { spend_days: days, ...query }: z.output<typeof listQuery>,
) {
  const page = await listApiKeys(db, projectId, query);
  const ids = page.data.map((key) => key.id);
  const usage = await loadKeyUsage(db, ids);
  const daysOf = await loadSpendByDay(db, { nowMs: clock.nowMs(), days, by: 'key', projectId, ids });
  return showPage(page, (key) => showListedKey(key, { usage: usage.get(key.id), spendByDay: daysOf(key.id) }));
}

interface Owned {
  readonly projectId: string;
  readonly userId: string | null | undefined;
}

/** Who may not make keys for everybody makes their own. In some teams these wait. */
async function ownedBy({ db, clock }: Pick<Needs, 'db' | 'clock'>, actor: Actor, { projectId, userId: given }: Owned) {
  const mayMakeAny = actor.may('change_keys');
  const userId = given ?? (mayMakeAny ? null : (actor.user?.id ?? null));
  await refuseUnknownUser(db, userId);
  if (mayMakeAny || !(await needsApproval(db, projectId))) return { userId };
  return { userId, isActive: false, requestedAtMs: clock.nowMs() };
}

async function refuseUnknownUser(db: Db, userId: string | null | undefined): Promise<void> {
  if (userId != null) required(await userRows.get(db, { id: userId }), 'user');
}

function refuseSignOn(key: StoredApiKey | null): StoredApiKey | null {
  if (key?.isSignOn !== true) return key;
  throw invalidRequest('key_id', "This key is of a user's tokens. It has no secret to replace.");
}

type NewKey = Parameters<typeof keyRows.create>[1] &
  Pick<StoredApiKey, 'projectId'> & { readonly userId: string | null; readonly hash: string };

const unbound = (settings: NewKey) => ({ settings, bounds: null });

/** Revoked keys count: their secret must stay useless. */
async function insertKey(tx: Db, actor: Actor, asked: NewKey): Promise<StoredApiKey> {
  const { projectId, userId } = asked;
  const project = await requireProject(tx, projectId);
  const isOwn = userId != null && !actor.may('change_keys');
  if (isOwn) refuseProjectLabels(project, asked);
  const { settings, bounds } = isOwn ? await settingsWithin(tx, { projectId, userId }, asked) : unbound(asked);
  const isKnown = await isPreviousSecret(tx, asked.hash);
  const made = isKnown ? null : await keyRows.createUnlessThere(tx, { ...asked, ...settings, bounds });
  if (made !== null) {
    if (userId == null) return refuseDefaultAboveMost(made);
    await followRole(tx, made.id);
    const key = (await keyRows.get(tx, { id: made.id })) ?? made;
    return refuseDefaultAboveMost(isOwn ? key : await writeBounds(tx, key, boundsAfter(key, asked)));
  }
  const message = 'key: a key with this secret exists, or existed and was revoked. Use another secret.';
  throw new GatewayError('conflict', message, { param: 'key' });
}

/** A saved rotation without a 200 would lose the new secret, so it doesn't start. */
async function refuseWithoutStore(services: Needs): Promise<void> {
  const health = await services.hotStore.health();
  if (health.ok) return;
  const message = "The hot store is unreachable, so the old secret can't be revoked. Nothing was changed; try again.";
  throw new GatewayError('store_unavailable', message, { retryAfterMs: 1000 });
}
