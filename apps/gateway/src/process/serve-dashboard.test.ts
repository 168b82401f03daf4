import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { isDashboardPage, serveDashboard } from './serve-dashboard';

test("the dashboard's own pages are served, and nothing else is taken for one", async () => {
  const router = await Bun.file(join(import.meta.dir, '../../../dashboard/src/router.tsx')).text();
  const paths = [...router.matchAll(/(?:path: |plain\()'(\/[^']*)'/g)].map(([, path = '']) =>
    path.replace(/\$\w+/g, 'some-id'),
  );
  expect(paths.length).toBeGreaterThan(8);
  expect(paths.filter((path) => !isDashboardPage(path))).toEqual([]);
  const others = [
    '/foo',
    '/health',
    '/v1',
    '/v1/engines',
    '/admin',
    '/requests/x',
    '/projects/a/b',
    '/models.json',
    '//',
    '/mcp',
  ];
  expect(others.filter(isDashboardPage)).toEqual([]);
});

test('a name that no file system keeps is no file', async () => {
  expect(await serveDashboard(`/${'eyJaaaaaaaaaa.'.repeat(300)}a`)).toBeUndefined();
});
