import { expect, test } from 'bun:test';
import { dashboardSources } from './ensure-dashboard';

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
