import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RUNTIME_ENVIRONMENT } from '../../../apps/gateway/bin/runtime-environment';
import { readConfig } from '../../../apps/gateway/src/config/config';
import { removeFolder, temporaryFolder } from '../stores/server-process';

const ROOT = join(import.meta.dir, '../../..');
const UNIT = await Bun.file(join(ROOT, 'deploy/systemd/llm0.service')).text();
/** Of `systemd-analyze security`, from 0 (closed) to 10. */
const MAX_EXPOSURE = 1.5;
const ANALYZE = Bun.which('systemd-analyze');

/** All values of a setting of `[Service]`, in order. */
const valuesOf = (name: string): readonly string[] =>
  UNIT.split('\n').flatMap((line) => (line.startsWith(`${name}=`) ? [line.slice(name.length + 1)] : []));
const lastOf = (name: string) => valuesOf(name).at(-1);

describe('the unit for systemd', () => {
  const folder = temporaryFolder('systemd');
  afterAll(() => removeFolder(folder));

  test('runs what is there, as the container does', () => {
    const [program, entry = ''] = (lastOf('ExecStart') ?? '').split(' ');
    expect(program).toStartWith('/');
    expect(existsSync(join(ROOT, entry))).toBe(true);
    const environment = Object.fromEntries(
      valuesOf('Environment').flatMap((line) => line.split(' ').map((pair) => pair.split('='))),
    );
    expect(environment).toMatchObject({ ...RUNTIME_ENVIRONMENT, DATA_DIR: `/var/lib/${lastOf('StateDirectory')}` });
    // The gateway takes all that it is told.
    expect(readConfig(environment).misspeltNames).toEqual([]);
  });

  test('leaves a drain the time that it may take', () => {
    const { drainTimeoutMs } = readConfig({});
    expect(Number(lastOf('TimeoutStopSec')) * 1000).toBeGreaterThanOrEqual(drainTimeoutMs + 15_000);
    // Workers and the embedded database are told by the gateway, in its order.
    expect([lastOf('KillMode'), lastOf('KillSignal')]).toEqual(['mixed', 'SIGTERM']);
  });

  test('has a user of its own, no rights, and one folder to write to', () => {
    const closed = [
      'DynamicUser',
      'NoNewPrivileges',
      'PrivateTmp',
      'PrivateDevices',
      'ProtectHome',
      'RestrictNamespaces',
    ];
    for (const name of closed) expect(lastOf(name)).toBe('yes');
    expect(lastOf('ProtectSystem')).toBe('strict');
    expect([lastOf('CapabilityBoundingSet'), lastOf('AmbientCapabilities')]).toEqual(['', '']);
    // What an embedded database and threads of low priority need, taken back from what is refused.
    expect(valuesOf('SystemCallFilter')).toEqual(['@system-service', '~@privileged @resources', '@chown setpriority']);
    expect(UNIT).not.toMatch(/^(?:ReadWritePaths|User|MemoryDenyWriteExecute)=/m);
  });

  // Where systemd is, it has the last word; elsewhere what is above is all that can be asked.
  if (ANALYZE !== null) {
    const analyze = async (...args: readonly string[]) => {
      const file = join(folder, 'llm0.service');
      // Bun is elsewhere on this machine.
      await Bun.write(file, UNIT.replace('/usr/local/bin/bun', process.execPath));
      const child = Bun.spawn([ANALYZE, ...args, file], { stdout: 'pipe', stderr: 'pipe' });
      const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
      return { code: await child.exited, out, err };
    };

    test('systemd takes it without a complaint', async () => {
      expect(await analyze('verify')).toEqual({ code: 0, out: '', err: '' });
    });

    test(`systemd finds little exposed (${MAX_EXPOSURE} of 10 at most)`, async () => {
      const { out } = await analyze('security', '--offline=true', '--no-pager');
      const level = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(out)?.[1] ?? Number.NaN);
      expect(level).toBeLessThanOrEqual(MAX_EXPOSURE);
    });
  }
});
