import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { endProcess, freePort, removeFolder, temporaryFolder } from '@llm0/testing/stores/server-process';

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly privileged?: boolean;
  readonly security_opt?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly network_mode?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly command?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

const ROOT = join(import.meta.dir, '../../..');
const compose = Bun.YAML.parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
};
const services = Object.entries(compose.services);
const service = (name: string): Service => compose.services[name] ?? {};
/** Compose writes a dollar of its own as two. */
const scriptOf = (lines: readonly string[] | undefined) => (lines?.at(-1) ?? '').replaceAll('$$', '$');

const folder = temporaryFolder('compose');
afterAll(() => removeFolder(folder));

describe('docker compose', () => {
  test.each(services)('%s writes only where it has to, without rights it does not need', (name, one) => {
    expect(one).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(one.tmpfs).toContain('/tmp');
    expect([one.cap_add, one.privileged]).toEqual([undefined, undefined]);
    // The image of the gateway has a user of its own; who makes the passwords has no network instead.
    if (name === 'secrets') expect(one.network_mode).toBe('none');
    else if (name !== 'gateway') expect(one.user).toMatch(/^(?!root|0)\w+$/);
  });

  test('images are pinned to a version, and may be to a digest', () => {
    const images = services.flatMap(([, { image }]) => image ?? []);
    for (const image of images) expect(image).toMatch(/^\$\{[A-Z]+_IMAGE:-[\w./-]+:\d+\.\d+\.\d+-[\w.]+\}$/);
    const from = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').match(/^FROM \S+\/\S+/gm) ?? [];
    expect(from.length).toBeGreaterThan(0);
    for (const image of from) expect(image).toMatch(/:\d+\.\d+\.\d+(?:-[\w.]+)?$/);
    expect(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')).toMatch(/^USER bun$/m);
  });

  test('stores are on a network of their own, and only this machine reaches the gateway', () => {
    expect(compose.networks.stores).toEqual({ internal: true });
    for (const [name, { ports, networks }] of services) {
      if (name === 'gateway') expect(ports).toEqual([`127.0.0.1:\${PORT:-8080}:8080`]);
      else expect([name, ports, networks]).toEqual([name, undefined, name === 'secrets' ? undefined : ['stores']]);
    }
  });

  test('no password stands in the file; each service sees its own, for reading', () => {
    expect(service('postgres').environment?.POSTGRES_PASSWORD).toBeUndefined();
    expect(service('secrets').environment).toEqual({ POSTGRES_PASSWORD: `\${POSTGRES_PASSWORD:-}` });
    expect(service('gateway').environment).toMatchObject({ DATABASE_URL: '', REDIS_PASSWORD: '' });
    for (const name of ['gateway', 'redis', 'postgres']) {
      expect(service(name).volumes?.filter((volume) => volume.includes('secrets'))).toEqual([
        `${name}-secrets:/run/secrets/llm0:ro`,
      ]);
      expect(service(name).depends_on?.secrets?.condition).toBe('service_completed_successfully');
    }
  });

  const makeSecrets = async (own = ''): Promise<Record<string, string>> => {
    for (const name of ['postgres', 'redis', 'gateway']) mkdirSync(join(folder, name), { recursive: true });
    const script = scriptOf(service('secrets').command).replaceAll('/secrets/', `${folder}/`);
    const child = Bun.spawn(['sh', '-euc', script], { env: { PATH: process.env.PATH ?? '', POSTGRES_PASSWORD: own } });
    expect(await child.exited).toBe(0);
    const files = ['postgres/password', 'redis/password', 'gateway/database-url', 'gateway/redis-password'];
    for (const file of files) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o444);
    return Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
  };

  test('passwords are made once, at random, and one of the operator’s own is taken', async () => {
    const made = await makeSecrets();
    expect(made['postgres/password']).toMatch(/^[0-9a-f]{64}$/);
    expect(made['redis/password']).toMatch(/^[0-9a-f]{64}$/);
    expect(made['redis/password']).not.toBe(made['postgres/password'] ?? '');
    expect(made['gateway/database-url']).toBe(`postgres://llm0:${made['postgres/password']}@postgres:5432/llm0`);
    expect(made['gateway/redis-password']).toBe(made['redis/password'] ?? '');
    expect(await makeSecrets()).toEqual(made);
    expect((await makeSecrets('mine'))['gateway/database-url']).toBe('postgres://llm0:mine@postgres:5432/llm0');
    expect((await makeSecrets())['postgres/password']).toBe('mine');
  });

  test('Redis asks for its password, and its health check knows it', async () => {
    await makeSecrets();
    const port = await freePort();
    const placed = (text: string) =>
      text
        .replaceAll('/run/secrets/llm0/', `${folder}/redis/`)
        .replaceAll('/tmp/redis.conf', join(folder, 'redis.conf'))
        .replace(/(redis-server \S+)/, `$1 --port ${port} --bind 127.0.0.1 --dir ${folder}`)
        .replace('redis-cli', `redis-cli -p ${port}`);
    const server = Bun.spawn(['sh', '-euc', placed(scriptOf(service('redis').command))], { stdout: 'ignore' });
    try {
      const check = placed(scriptOf(service('redis').healthcheck?.test));
      const isHealthy = async (script: string) =>
        (await Bun.spawn(['sh', '-c', script], { stderr: 'ignore' }).exited) === 0;
      const deadline = performance.now() + 10_000;
      while (!(await isHealthy(check)) && performance.now() < deadline) await Bun.sleep(20);
      expect(await isHealthy(check)).toBe(true);
      expect(await isHealthy(check.replace(/REDISCLI_AUTH="[^"]*" /, ''))).toBe(false);
      expect(statSync(join(folder, 'redis.conf')).mode & 0o777).toBe(0o600);
    } finally {
      await endProcess(server, 'SIGTERM');
    }
  });
});
