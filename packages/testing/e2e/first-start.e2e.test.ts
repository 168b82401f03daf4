import { afterEach, describe, expect, test } from 'bun:test';
import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isAll } from '../lane';
import { createDatabase, createMigratedDatabase } from '../stores/create-database';
import { freePort, runCommand, temporaryFolder } from '../stores/server-process';
import { callAdmin, type GatewayProcess, startGateway } from '../stores/start-gateway';
import { startRedis } from '../stores/start-redis';
import { STORE_KINDS, type StoreKind } from './environment';
import { testApart } from './test-apart';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Stores that no gateway has seen yet, and no ADMIN_TOKEN. */
async function newStores(
  kind: StoreKind,
  isMigrated = true,
): Promise<{ dataDir: string; env: Record<string, string> }> {
  const dataDir = temporaryFolder('first-start');
  closers.push(() => rmSync(dataDir, { recursive: true, force: true }));
  if (kind === 'embedded') return { dataDir, env: { ADMIN_TOKEN: '' } };
  const create = isMigrated ? createMigratedDatabase : createDatabase;
  const database = await create(process.env.TEST_DATABASE_URL ?? '');
  closers.push(() => database.drop());
  const redis = await startRedis();
  closers.push(() => redis.stop());
  return {
    dataDir,
    env: { ADMIN_TOKEN: '', DATABASE_URL: database.url, REDIS_URL: redis.url, LLM0_TEST_ADMIT_DEADLINE_MS: '5000' },
  };
}

async function start(stores: { dataDir: string; env: Record<string, string> }): Promise<GatewayProcess> {
  const gateway = await startGateway(stores);
  closers.push(() => gateway.kill());
  return gateway;
}

const isShown = (gateway: GatewayProcess) => /^admin token: /m.test(gateway.output());

async function complete(gateway: GatewayProcess, apiKey: string | undefined): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const text = await response.text();
  if (response.status >= 500) throw new Error(`${text}\n${gateway.output()}`);
  return response.status;
}

// Embedded stores add the folder, its rights and its lock to what servers check.
describe.each(isAll ? STORE_KINDS : STORE_KINDS.slice(0, 1))('a first start on %s stores', (kind) => {
  test('on a busy port says so in one line; then closes an open DATA_DIR and prints credentials', async () => {
    const stores = await newStores(kind);
    chmodSync(stores.dataDir, 0o755);
    const busy = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('another program') });
    closers.push(() => busy.stop(true));
    const failed = startGateway({ ...stores, env: { ...stores.env, PORT: String(busy.port) } });
    await expect(failed).rejects.toThrow(`PORT=${busy.port}: another program listens there`);
    const first = await start(stores);
    expect(isShown(first)).toBe(true);
    expect(first.output()).toContain('was open to other users (mode 755)');
    expect(await complete(first, first.apiKey)).toBe(200);
  }, 120_000);

  testApart(
    'credentials stay',
    async () => {
      const stores = await newStores(kind);
      const first = await start(stores);
      await first.kill();
      const second = await start(stores);
      expect([isShown(second), second.apiKey]).toEqual([false, undefined]);
      expect(await complete(second, first.apiKey)).toBe(200);
      const paths = ['.', ...readdirSync(stores.dataDir, { recursive: true, encoding: 'utf8' })];
      const open = paths.filter((path) => (lstatSync(join(stores.dataDir, path)).mode & 0o077) !== 0);
      expect(open).toEqual([]);
      await second.kill();
      const third = await start(stores);
      expect(isShown(third)).toBe(false);
      expect(await complete(third, first.apiKey)).toBe(200);
      const admin = { ...third, adminToken: first.adminToken };
      const projects = await callAdmin<{ data: { id: string; name: string }[] }>(admin, '/projects');
      expect(projects.data.map(({ name }) => name)).toEqual(['default']);
      const keys = await callAdmin<{ data: unknown[] }>(admin, `/projects/${projects.data[0]?.id}/keys`);
      expect(keys.data).toHaveLength(1);
    },
    120_000,
  );

  testApart('gives who lost the admin token another one', async () => {
    const stores = await newStores(kind);
    const lost = await start(stores);
    await callAdmin(lost, '/projects');
    const reset = () =>
      runCommand([process.execPath, '--no-env-file', 'apps/gateway/bin/llm0.ts', 'reset-admin-token'], {
        ...{ DATABASE_URL: '', ...stores.env },
        DATA_DIR: stores.dataDir,
      });
    if (kind === 'embedded') {
      const refused = await reset();
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('in use by another gateway') });
      await lost.stop();
    }
    const done = await reset();
    expect(done.code).toBe(0);
    const token = /^admin token: (llm0_admin_\S+)$/m.exec(done.stdout)?.[1] ?? '';
    const gateway = kind === 'embedded' ? await start(stores) : lost;
    await callAdmin({ ...gateway, adminToken: token }, '/projects');
    await expect(callAdmin({ ...gateway, adminToken: lost.adminToken }, '/projects')).rejects.toThrow('401');
    expect(gateway === lost || !isShown(gateway)).toBe(true);
  });
});

describe('several processes on real stores', () => {
  testApart('agree on one set of credentials: who comes later makes none', async () => {
    const stores = await newStores('real', false);
    const gateways = await Promise.all([start(stores), start({ ...stores, dataDir: temporaryFolder('second') })]);
    const shown = gateways.filter(isShown);
    expect(shown).toHaveLength(1);
    const [one] = shown;
    for (const gateway of gateways) expect(await complete(gateway, one?.apiKey)).toBe(200);
  });

  test('workers on one port show them once and refuse a busy port', async () => {
    const stores = await newStores('real');
    const env = { ...stores.env, GATEWAY_WORKERS: '2' };
    const busy = Bun.serve({ port: await freePort(), hostname: '127.0.0.1', fetch: () => new Response() });
    closers.push(() => busy.stop(true));
    const failed = startGateway({ ...stores, env: { ...env, PORT: String(busy.port) } });
    await expect(failed).rejects.toThrow(`PORT=${busy.port}: another program listens there`);
    const gateway = await start({ ...stores, env });
    expect(gateway.output().match(/^admin token: /gm)).toHaveLength(1);
    expect(await complete(gateway, gateway.apiKey)).toBe(200);
  });
});
