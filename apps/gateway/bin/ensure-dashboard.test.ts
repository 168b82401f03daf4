import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dashboardSources, ensureBuilt, removeHalfBuilt } from './ensure-dashboard';

test('a build is stale when any source changed, however deep it lies; tests do not count', () => {
  const sources = dashboardSources();
  for (const path of [
    'index.html',
    'vite.config.ts',
    'public/theme.js',
    'src/main.tsx',
    'src/features/shell/shell.tsx',
  ]) {
    expect(sources).toContain(path);
  }
  expect(sources.filter((path) => /\.test\.|\/testing\/|\/dist\//.test(path))).toEqual([]);
});

test('leftovers of refused starts are removed; open builds stay', () => {
  const folder = mkdtempSync(join(tmpdir(), 'llm0-half-built-'));
  const gone = Bun.spawnSync(['true']).pid;
  for (const name of ['dist', `.dist-${process.pid}`, `.dist-${gone}`]) mkdirSync(join(folder, name));
  removeHalfBuilt(folder);
  expect(readdirSync(folder).sort()).toEqual([`.dist-${process.pid}`, 'dist']);
  rmSync(folder, { recursive: true });
});

test('a build ends with the gateway, with all its processes, and leaves nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'llm0-built-'));
  const build = 'sh -c \'sh -c "echo $$ > pid.half; mv pid.half pid; exec tail -f /dev/null"\'';
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { build } }));
  const ended = new AbortController();
  const isBuilt = ensureBuilt({ name: 'site', folder, sources: ['package.json'] }, ended.signal);
  await waitFor(() => existsSync(join(folder, 'pid')));
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
  expect(isAlive(pid)).toBe(true);
  ended.abort();
  expect(await isBuilt).toBe(false);
  await waitFor(() => !isAlive(pid));
  expect(readdirSync(folder).sort()).toEqual(['package.json', 'pid']);
  rmSync(folder, { recursive: true });
}, 20_000);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

async function waitFor(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(20);
}
