import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { isDashboardPage, serveDashboard } from './serve-dashboard';
import { takesEncoding } from './takes-encoding';

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

test('a mistyped address shows a browser the page for that, and an API client nothing of it', async () => {
  const asked = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  expect((await serveDashboard('/reqests/all', asked))?.status).toBe(404);
  expect((await serveDashboard('/requests', asked))?.status).toBe(200);
  expect(await serveDashboard('/reqests/all', { accept: '*/*' })).toBeUndefined();
  const apis = ['/v1/nothing', '/v1', '/admin/nothing', '/mcp/x', '/infer/x', '/auth/x'];
  expect(await Promise.all(apis.map((path) => serveDashboard(path, asked)))).toEqual(apis.map(() => undefined));
});

test('a name that no file system keeps is no file', async () => {
  expect(await serveDashboard(`/${'eyJaaaaaaaaaa.'.repeat(300)}a`)).toBeUndefined();
});

test.each([
  ['br, gzip', 'br', true],
  ['gzip;q=1.0, *;q=0', 'gzip', true],
  ['br;q=0, gzip', 'br', false],
  ['br;q=0.0', 'br', false],
  ['identity', 'gzip', false],
  [undefined, 'gzip', false],
])('%p takes %s: %p', (header, encoding, isTaken) => {
  expect(takesEncoding(header, encoding)).toBe(isTaken);
});
