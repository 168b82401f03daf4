import { expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dashboardSources, removeHalfBuilt } from './ensure-dashboard';

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
  expect(sources.filter((path) => /\.test\.|testing|dist/.test(path))).toEqual([]);
});

test('leftovers of refused starts are removed; open builds stay', () => {
  const folder = mkdtempSync(join(tmpdir(), 'llm0-half-built-'));
  const gone = Bun.spawnSync(['true']).pid;
  for (const name of ['dist', `.dist-${process.pid}`, `.dist-${gone}`]) mkdirSync(join(folder, name));
  removeHalfBuilt(folder);
  expect(readdirSync(folder).sort()).toEqual([`.dist-${process.pid}`, 'dist']);
  rmSync(folder, { recursive: true });
});
