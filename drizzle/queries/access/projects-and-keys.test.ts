import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hashSecret } from '@llm0/core/keys/api-key';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import type { Database, Db } from '../../client';
import { getCustomerLimits, limitRows, listAllCustomerLimits, putCustomerLimits } from '../limits/customer-limits';
import { openRun, runRows } from '../limits/runs';
import { getSetting, putSetting, putSettingOnce } from '../settings';
import { deleteApiKey, keyRows, listApiKeys } from './api-keys';
import { findPrincipalByHash, findPrincipalByKeyId } from './find-principal';
import { deleteProject, projectRows } from './projects';
import { organizationRows, teamRows } from './teams';

const secretParts = () => {
  const secret = crypto.randomUUID();
  return { hash: hashSecret(secret), prefix: `llm0_live_${secret.slice(0, 6)}` };
};

describe.each(TEST_DATABASES)('projects and keys on $name', (kind) => {
  let database: Database;
  let db: Db;
  beforeAll(async () => {
    database = await kind.open();
    db = database.db;
  }, 60_000);
  afterAll(() => database.close());

  test('a project has the documented defaults', async () => {
    const project = await projectRows.create(db, { name: 'defaults' });
    expect(project).toMatchObject({
      version: 1,
      isActive: true,
      monthlyCapNanoUsd: null,
      strictCaps: false,
      defaultOutputTokens: 4096,
      cacheEnabled: true,
      cacheTtlSeconds: null,
      semanticCacheEnabled: false,
      onStoreFailure: 'closed',
      unknownModelPolicy: null,
      maxCustomers: 100_000,
    });
    expect(await projectRows.get(db, { id: project.id })).toEqual(project);
  });

  test('every update raises the version and keeps money exact', async () => {
    const { id } = await projectRows.create(db, { name: 'x', monthlyCapNanoUsd: 9_007_199_254_740_991 });
    expect((await projectRows.get(db, { id }))?.monthlyCapNanoUsd).toBe(9_007_199_254_740_991);
    const changed = await projectRows.update(db, { id }, { monthlyCapNanoUsd: null, semanticThreshold: 0.95 });
    expect(changed).toMatchObject({ version: 2, monthlyCapNanoUsd: null, semanticThreshold: 0.95, name: 'x' });
    expect((await projectRows.update(db, { id }, {}))?.version).toBe(2);
    expect((await projectRows.update(db, { id }, { isActive: false }))?.version).toBe(3);
    expect(await projectRows.update(db, { id: crypto.randomUUID() }, { name: 'y' })).toBeNull();
  });

  test('pages go through all projects once, newest first', async () => {
    const made: string[] = [];
    for (let index = 0; index < 7; index++) made.push((await projectRows.create(db, { name: `p${index}` })).id);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await projectRows.list(db, { limit: 3, cursor });
      expect(page.data.length).toBeLessThanOrEqual(3);
      seen.push(...page.data.map((project) => project.id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(seen.length);
    const positions = made.map((id) => seen.indexOf(id));
    expect(positions.every((position) => position >= 0)).toBe(true);
    const stamps = await Promise.all(seen.map(async (id) => (await projectRows.get(db, { id }))?.createdAtMs ?? 0));
    expect(stamps).toEqual([...stamps].sort((a, b) => b - a));
  });

  test.each(['', 'abc', Buffer.from('1,2').toString('base64url')])('cursor %p is refused', async (cursor) => {
    await expect(projectRows.list(db, { limit: 1, cursor })).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'cursor',
    });
  });

  test('key and project are found by hash in their current versions', async () => {
    const project = await projectRows.create(db, { name: 'owner', monthlyCapNanoUsd: 1 });
    const secret = secretParts();
    const key = await keyRows.create(db, {
      ...secret,
      projectId: project.id,
      name: 'k',
      rateLimitPerMinute: 60,
      allowedModels: ['a', 'b'],
      allowedProviders: ['openai'],
      budgetNanoUsd: 250_000_000,
      budgetPeriod: 'month',
      expiresAtMs: 1_900_000_000_123,
    });
    const principal = await findPrincipalByHash(db, secret.hash);
    expect(principal?.key).toMatchObject({
      id: key.id,
      projectId: project.id,
      version: 1,
      rateLimitPerMinute: 60,
      rateLimitBurst: null,
      allowedProviders: ['openai'],
      allowedModels: ['a', 'b'],
      budgetNanoUsd: 250_000_000,
      budgetPeriod: 'month',
      expiresAtMs: 1_900_000_000_123,
    });
    expect(principal?.project).toEqual(project);
    expect(await findPrincipalByKeyId(db, key.id)).toEqual(principal);
    expect(await findPrincipalByHash(db, hashSecret('unknown'))).toBeNull();
    expect(JSON.stringify(await listApiKeys(db, project.id, { limit: 50 }))).not.toContain(secret.hash);
  });

  test('a key carries the lists of its levels, and none where none is set', async () => {
    const organization = await organizationRows.create(db, { name: crypto.randomUUID(), passthrough: ['openai'] });
    const named = { organizationId: organization.id, name: 'team' };
    const check = { type: 'secrets' } as const;
    const rule = { name: 'keys', on: 'input', check, action: 'block', onError: 'block' } as const;
    const team = await teamRows.create(db, { ...named, allowedTools: ['a__*'], guardrailRules: [rule] });
    await teamRows.update(db, { id: team.id }, { allowedProviders: ['openai'] });
    const project = await projectRows.create(db, {
      name: 'owner',
      teamId: team.id,
      allowedModels: ['m'],
      allowedProviders: ['acme'],
    });
    const secret = secretParts();
    await keyRows.create(db, { ...secret, projectId: project.id, name: 'k', rateLimitPerMinute: 60 });
    const found = await findPrincipalByHash(db, secret.hash);
    expect(found?.key).toMatchObject({ passthroughAbove: [['openai']], toolsAbove: [['a__*']], modelsAbove: [['m']] });
    expect(found?.key.providersAbove).toEqual([
      { level: 'team', providers: ['openai'] },
      { level: 'project', providers: ['acme'] },
    ]);
    expect(found?.levelRules).toEqual([{ ...rule, name: 'team/keys' }]);
    await teamRows.update(db, { id: team.id }, { allowedTools: null, guardrailRules: null });
    const now = await findPrincipalByHash(db, secret.hash);
    expect([now?.levelRules, 'toolsAbove' in (now?.key ?? {})]).toEqual([[], false]);
  });

  test('a rotated, revoked or deleted key shows in the principal', async () => {
    const project = await projectRows.create(db, { name: 'owner' });
    const first = secretParts();
    const { id } = await keyRows.create(db, { ...first, projectId: project.id, name: 'k' });
    const path = { projectId: project.id, id };
    const second = secretParts();
    expect((await keyRows.update(db, path, second))?.version).toBe(2);
    expect(await findPrincipalByHash(db, first.hash)).toBeNull();
    expect((await keyRows.update(db, path, { allowedModels: null, expiresAtMs: null }))?.version).toBe(3);
    expect((await keyRows.update(db, path, { isActive: false }))?.version).toBe(4);
    expect((await findPrincipalByHash(db, second.hash))?.key).toMatchObject({ isActive: false, version: 4 });
    expect((await deleteApiKey(db, path))?.version).toBe(5);
    expect(await keyRows.get(db, path)).toBeNull();
    expect((await listApiKeys(db, project.id, { limit: 10 })).data).toEqual([]);
    expect((await findPrincipalByHash(db, second.hash))?.key.isActive).toBe(false);
  });

  test('a key is only found under its own project', async () => {
    const [one, other] = [await projectRows.create(db, { name: 'a' }), await projectRows.create(db, { name: 'b' })];
    const key = await keyRows.create(db, { ...secretParts(), projectId: one.id, name: 'k' });
    expect(await keyRows.update(db, { projectId: other.id, id: key.id }, { isActive: false })).toBeNull();
    expect((await keyRows.get(db, { projectId: one.id, id: key.id }))?.isActive).toBe(true);
  });

  test('a deleted project is hidden and its keys find it inactive', async () => {
    const project = await projectRows.create(db, { name: 'gone' });
    const secret = secretParts();
    const { id: apiKeyId } = await keyRows.create(db, { ...secret, projectId: project.id, name: 'k' });
    await openRun(db, { projectId: project.id, runId: 'r', apiKeyId, budgetNanoUsd: 5 });
    expect(await deleteProject(db, project.id)).toMatchObject({ version: 2 });
    expect(await deleteProject(db, project.id)).toBeNull();
    expect((await runRows.get(db, { projectId: project.id, runId: 'r' }))?.stoppedAtMs).toBeNumber();
    expect(await projectRows.get(db, { id: project.id })).toBeNull();
    expect((await projectRows.list(db, { limit: 1000 })).data.some(({ id }) => id === project.id)).toBe(false);
    expect((await findPrincipalByHash(db, secret.hash))?.project).toMatchObject({ isActive: false, version: 2 });
  });

  test('customer limits are set, replaced and removed', async () => {
    const { id: projectId } = await projectRows.create(db, { name: 'limits' });
    const path = { projectId, customerId: "o'brien \u{1f600}" };
    const columns = {
      dailySpendLimitNanoUsd: 1_500_000_000,
      perRequestMaxNanoUsd: 1,
      requestsPerMinute: 5,
      requestsPerDay: 100,
      modelLimits: { 'model-a': { requests_per_day: 3 }, 'model-b': {} },
      onLimitBehavior: 'downgrade',
      downgradeModel: 'model-b',
    } as const;
    const limits = {
      dailySpendNanoUsd: 1_500_000_000,
      monthlySpendNanoUsd: null,
      perRequestMaxNanoUsd: 1,
      requestsPerMinute: 5,
      requestsPerHour: null,
      requestsPerDay: 100,
      modelRequestsPerDay: { 'model-a': 3 },
      onLimit: 'downgrade',
      downgradeModel: 'model-b',
    } as const;
    expect(await getCustomerLimits(db, path)).toBeNull();
    expect(await putCustomerLimits(db, path, columns)).toMatchObject({ ...path, version: 1 });
    expect(await getCustomerLimits(db, path)).toEqual(limits);
    const next = { requestsPerDay: null, modelLimits: {}, onLimitBehavior: 'warn' } as const;
    expect(await putCustomerLimits(db, path, next)).toMatchObject({ ...next, version: 2 });
    const expected = { ...limits, requestsPerDay: null, modelRequestsPerDay: {}, onLimit: 'warn' } as const;
    expect(await getCustomerLimits(db, path)).toEqual(expected);
    expect((await listAllCustomerLimits(db)).filter((row) => row.projectId === projectId)).toEqual([
      { ...path, limits: expected },
    ]);
    expect(await limitRows.delete(db, path)).toMatchObject(path);
    expect(await limitRows.delete(db, path)).toBeNull();
  });

  test('one row is named in full: an empty path is no path to all of them', async () => {
    await expect(projectRows.get(db, {})).rejects.toThrow("the row isn't specified");
    await expect(projectRows.delete(db, { id: undefined })).rejects.toThrow("the row isn't specified");
    await expect(projectRows.update(db, {}, { name: 'all' })).rejects.toThrow("the row isn't specified");
  });

  test.each([
    ['text', '12'],
    ['number', 12],
    ['object', { a: [1, null, '2'] }],
    ['null', null],
  ])('a setting keeps its %s', async (_name, value) => {
    const key = crypto.randomUUID();
    expect(await getSetting(db, key)).toBeUndefined();
    expect(await putSettingOnce(db, key, value)).toEqual(value);
    expect(await putSettingOnce(db, key, 'other')).toEqual(value);
    expect(await getSetting(db, key)).toEqual(value);
    await putSetting(db, key, 'changed');
    expect(await getSetting(db, key)).toBe('changed');
  });
});
