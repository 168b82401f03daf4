import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import type { GatewayProcess } from '../stores/start-gateway';
import { shareEnvironment, startOnServers, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;

describe('paths that are nobody’s', () => {
  let world: TestEnvironment;
  beforeAll(async () => {
    world = await shareEnvironment({ kind: 'real' });
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);
  const get = (path: string) => fetch(`${world.gateway.url}${path}`);
  const askRaw = (head: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connectPlain(Number(new URL(world.gateway.url).port), '127.0.0.1', () => socket.write(head));
      let answer = '';
      socket.on('data', (bytes) => (answer += bytes));
      socket.on('end', () => resolve(answer));
      socket.on('error', reject);
    });

  test.each([
    '/foo',
    '/healthcheck',
    '/status',
    '/requests/more',
    '/index.php',
    '/.env',
    '/assets/none.js',
    '/v2/models',
  ])('%s is 404 in the error envelope, whatever the dashboard is', async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } });
  });

  test.each(['a^b', '', 'x@y', '<x>', 'a b'])('an invalid Host reaches no other page (%p)', async (host) => {
    for (const [method, path] of [
      ['POST', '/ab/passthrough/x'],
      ['GET', '/ab/metrics'],
      ['GET', '/v1/models'],
    ] as const) {
      const answer = await askRaw(
        `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toStartWith('HTTP/1.1 400');
    }
  });

  test("the Go project's probes are aliases of ours", async () => {
    const health = await get('/health');
    expect([health.status, await health.json()]).toEqual([
      200,
      expect.objectContaining({ ok: true, service: 'llm0-gateway' }),
    ]);
    for (const path of ['/ready', '/live']) expect((await get(path)).status).toBe(200);
  });
});

describe('TLS', () => {
  let folder: string;
  let gateway: GatewayProcess;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'llm0-tls-'));
    const made = Bun.spawnSync(
      [
        'openssl',
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-keyout',
        'key.pem',
        '-out',
        'cert.pem',
        '-days',
        '2',
        '-subj',
        '/CN=localhost',
      ],
      { cwd: folder, stderr: 'pipe' },
    );
    if (!made.success) throw new Error(`a certificate could not be made: ${made.stderr}`);
    const env = { TLS_ENABLED: 'true', TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') };
    gateway = await startOnServers({ ...env, ADMIN_PORT: '0' }, { apart: true });
  }, SETUP_MS);
  afterAll(async () => {
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  }, SETUP_MS);

  const handshake = (version: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3', url: string) =>
    new Promise<string>((resolve) => {
      const { port } = new URL(url);
      const socket = connect({
        port: Number(port),
        host: '127.0.0.1',
        rejectUnauthorized: false,
        minVersion: version,
        maxVersion: version,
      });
      socket.once('secureConnect', () => {
        resolve(String(socket.getProtocol()));
        socket.end();
      });
      socket.once('error', () => resolve('refused'));
    });

  test('1.2 and 1.3 are spoken, older versions refused, on both listeners', async () => {
    const adminUrl = /^dashboard: (https:\S+)\/$/m.exec(gateway.output())?.[1] ?? '';
    expect(adminUrl).not.toBe(gateway.url);
    for (const url of [gateway.url, adminUrl]) {
      const versions = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const;
      const spoken = await Promise.all(versions.map((version) => handshake(version, url)));
      expect(spoken).toEqual(['refused', 'refused', 'TLSv1.2', 'TLSv1.3']);
    }
  });

  test("the container's health check speaks it too", async () => {
    const check = (env: Record<string, string>) =>
      Bun.spawn(
        [process.execPath, '--no-env-file', join(import.meta.dir, '../../../apps/gateway/bin/health-check.ts')],
        { env },
      ).exited;
    const { port } = new URL(gateway.url);
    for (const spelt of ['true', 't']) expect(await check({ PORT: port, TLS_ENABLED: spelt })).toBe(0);
    expect(await check({ PORT: port })).toBe(1);
    expect(await check({ PORT: '1', TLS_ENABLED: 'true' })).toBe(1);
  });
});
