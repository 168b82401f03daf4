import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '@llm0/testing/stores/server-process';
import { readLogDatabase } from '../src/config/log-database';
import { EnvReader } from '../src/config/values';

interface Service {
  readonly image?: string;
  readonly user?: string;
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly command?: readonly string[];
}

const read = (name: string) =>
  Bun.YAML.parse(readFileSync(join(import.meta.dir, '../../..', name), 'utf8')) as {
    readonly services: Readonly<Record<string, Service>>;
  };
const { services } = read('docker-compose.clickhouse.yml');
const folder = temporaryFolder('compose-clickhouse');
afterAll(() => removeFolder(folder));

test('ClickHouse is closed as the other stores are', () => {
  const { clickhouse, 'clickhouse-secrets': secrets } = services;
  for (const one of [clickhouse, secrets]) {
    expect(one).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(one?.ports).toBeUndefined();
  }
  expect(clickhouse).toMatchObject({ user: 'clickhouse', networks: ['stores'] });
  expect(clickhouse?.image).toMatch(/^\$\{[A-Z]+_IMAGE:-[\w./-]+:\d+\.\d+\.\d+\.\d+\}$/);
  expect(clickhouse?.environment).not.toHaveProperty('CLICKHOUSE_PASSWORD');
  // It adds to the gateway, and replaces nothing of it.
  const named = Object.keys(services.gateway?.environment ?? {});
  expect(Object.keys(read('docker-compose.yml').services.gateway?.environment ?? {})).not.toContainAnyValues(named);
});

test('the password is made once, and the gateway reads an address with it', async () => {
  const script = (services['clickhouse-secrets']?.command?.at(-1) ?? '').replaceAll('$$', '$');
  for (const name of ['clickhouse', 'gateway']) mkdirSync(join(folder, name), { recursive: true });
  const make = async () => {
    const child = Bun.spawn(['sh', '-euc', script.replaceAll('/secrets/', `${folder}/`)]);
    expect(await child.exited).toBe(0);
    return readFileSync(join(folder, 'clickhouse/password'), 'utf8');
  };
  const password = await make();
  expect(password).toMatch(/^[0-9a-f]{64}$/);
  expect(await make()).toBe(password);
  const file = join(folder, 'gateway/log-database-url');
  expect(statSync(file).mode & 0o777).toBe(0o444);
  const env = new EnvReader({ LOG_DATABASE_URL: '', LOG_DATABASE_URL_FILE: file });
  const kept = { logBodies: false, logRetentionDays: 90, logBodiesTtlDays: 7 };
  const user = services.clickhouse?.environment?.CLICKHOUSE_USER;
  expect(readLogDatabase(env, kept, [])).toMatchObject({
    ...{ url: 'http://clickhouse:8123', username: user, password, database: 'llm0' },
  });
});
