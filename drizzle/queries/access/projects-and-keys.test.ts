import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hashSecret } from '@llm0/core/keys/key-secret';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import type { Database, Db } from '../../client';
import {
  deleteCustomerLimits,
  getCustomerLimits,
  listAllCustomerLimits,
  putCustomerLimits,
} from '../limits/customer-limits';
import { getSetting, putSetting, putSettingOnce } from '../settings';
import {
  createApiKey,
  deleteApiKey,
  getApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
  updateApiKey,
} from './api-keys';
import { findPrincipalByHash, findPrincipalByKeyId } from './find-principal';
import { createProject, deleteProject, getProject, listProjects, updateProject } from './projects';

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
    const project = await createProject(db, { name: 'defaults' });
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
    });
    expect(await getProject(db, project.id)).toEqual(project);
  });

  test('every update raises the version and keeps money exact', async () => {
    const { id } = await createProject(db, { name: 'x', monthlyCapNanoUsd: 9_007_199_254_740_991 });
    expect((await getProject(db, id))?.monthlyCapNanoUsd).toBe(9_007_199_254_740_991);
    const changed = await updateProject(db, id, { monthlyCapNanoUsd: null, semanticThreshold: 0.95 });
    expect(changed).toMatchObject({ version: 2, monthlyCapNanoUsd: null, semanticThreshold: 0.95, name: 'x' });
    expect((await updateProject(db, id, {}))?.version).toBe(2);
    expect((await updateProject(db, id, { isActive: false }))?.version).toBe(3);
    expect(await updateProject(db, crypto.randomUUID(), { name: 'y' })).toBeNull();
  });

  test('pages go through all projects once, newest first', async () => {
    const made: string[] = [];
    for (let index = 0; index < 7; index++) made.push((await createProject(db, { name: `p${index}` })).id);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listProjects(db, { limit: 3, cursor });
      expect(page.data.length).toBeLessThanOrEqual(3);
      seen.push(...page.data.map((project) => project.id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(seen.length);
    const positions = made.map((id) => seen.indexOf(id));
    expect(positions.every((position) => position >= 0)).toBe(true);
    const stamps = await Promise.all(seen.map(async (id) => (await getProject(db, id))?.createdAtMs ?? 0));
    expect(stamps).toEqual([...stamps].sort((a, b) => b - a));
  });

  test.each(['', 'abc', Buffer.from('1,2').toString('base64url')])('cursor %p is refused', async (cursor) => {
    await expect(listProjects(db, { limit: 1, cursor })).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'cursor',
    });
  });

  test('key and project are found by hash in their current versions', async () => {
    const project = await createProject(db, { name: 'owner', monthlyCapNanoUsd: 1 });
    const secret = secretParts();
    const key = await createApiKey(db, {
      ...secret,
      projectId: project.id,
      name: 'k',
      rateLimitPerMinute: 60,
      allowedModels: ['a', 'b'],
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

  test('a rotated, revoked or deleted key shows in the principal', async () => {
    const project = await createProject(db, { name: 'owner' });
    const first = secretParts();
    const { id: keyId } = await createApiKey(db, { ...first, projectId: project.id, name: 'k' });
    const path = { projectId: project.id, keyId };
    const second = secretParts();
    expect((await rotateApiKey(db, path, second))?.version).toBe(2);
    expect(await findPrincipalByHash(db, first.hash)).toBeNull();
    expect((await updateApiKey(db, path, { allowedModels: null, expiresAtMs: null }))?.version).toBe(3);
    expect((await revokeApiKey(db, path))?.version).toBe(4);
    expect((await findPrincipalByHash(db, second.hash))?.key).toMatchObject({ isActive: false, version: 4 });
    expect((await deleteApiKey(db, path))?.version).toBe(5);
    expect(await getApiKey(db, path)).toBeNull();
    expect((await listApiKeys(db, project.id, { limit: 10 })).data).toEqual([]);
    expect((await findPrincipalByHash(db, second.hash))?.key.isActive).toBe(false);
  });

  test('a key is only found under its own project', async () => {
    const [one, other] = [await createProject(db, { name: 'a' }), await createProject(db, { name: 'b' })];
    const key = await createApiKey(db, { ...secretParts(), projectId: one.id, name: 'k' });
    expect(await revokeApiKey(db, { projectId: other.id, keyId: key.id })).toBeNull();
    expect((await getApiKey(db, { projectId: one.id, keyId: key.id }))?.isActive).toBe(true);
  });

  test('a deleted project is hidden and its keys find it inactive', async () => {
    const project = await createProject(db, { name: 'gone' });
    const secret = secretParts();
    await createApiKey(db, { ...secret, projectId: project.id, name: 'k' });
    expect(await deleteProject(db, project.id)).toEqual({ version: 2 });
    expect(await deleteProject(db, project.id)).toBeNull();
    expect(await getProject(db, project.id)).toBeNull();
    expect((await listProjects(db, { limit: 1000 })).data.some(({ id }) => id === project.id)).toBe(false);
    expect((await findPrincipalByHash(db, secret.hash))?.project).toMatchObject({ isActive: false, version: 2 });
  });

  test('customer limits are replaced as a whole', async () => {
    const { id: projectId } = await createProject(db, { name: 'limits' });
    const path = { projectId, customerId: "o'brien \u{1f600}" };
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
    expect((await putCustomerLimits(db, path, limits)).limits).toEqual(limits);
    const next = { ...limits, requestsPerDay: null, modelRequestsPerDay: {}, onLimit: 'warn' } as const;
    expect(await putCustomerLimits(db, path, next)).toMatchObject({ limits: next, version: 2 });
    expect((await getCustomerLimits(db, path))?.limits).toEqual(next);
    expect((await listAllCustomerLimits(db)).filter((row) => row.projectId === projectId)).toHaveLength(1);
    expect(await deleteCustomerLimits(db, path)).toBe(true);
    expect(await deleteCustomerLimits(db, path)).toBe(false);
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
