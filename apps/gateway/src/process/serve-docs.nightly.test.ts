import { beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { ensureDocs } from '../../bin/ensure-dashboard';
import { isDocsPath, serveDocs } from './serve-docs';

test('only paths below /docs are its own', () => {
  expect(['/docs', '/docs/', '/docs/operate/backup', '/docs/assets/a.js'].every(isDocsPath)).toBe(true);
  expect(['/', '/documents', '/docsx', '/admin/docs'].some(isDocsPath)).toBe(false);
});

describe('the documentation', () => {
  beforeAll(async () => {
    expect(await ensureDocs()).toBe(true);
  }, 120_000);

  test.each(['/docs', '/docs/', '/docs/index.html', '/docs/reference/settings', '/docs/guides/clients/'])(
    '%s is a page of it, with its own scripts alone',
    async (path) => {
      const response = await serveDocs(path);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      const html = await response.text();
      expect(html).toContain('LLM0 Gateway');
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("'sha256-");
      expect(policy.split('; ').find((one) => one.startsWith('script-src'))).not.toContain('unsafe');
      for (const [, asset = ''] of html.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)) {
        expect([asset, (await serveDocs(asset)).status]).toEqual([asset, 200]);
      }
    },
  );

  test.each([
    '/docs/nowhere',
    '/docs/../package.json',
    '/docs/..%2f..%2fpackage.json',
    '/docs/.stamp',
    '/docs/a/../../x',
  ])('%s is none', async (path) => {
    expect((await serveDocs(path)).status).toBe(404);
  });

  test('every file of the build is served, the index of the search too', async () => {
    const dist = join(import.meta.dir, '../../../docs/dist');
    const files = [...new Bun.Glob('**/*').scanSync(dist)].filter((file) => file !== '404.html');
    expect(files.some((file) => file.includes('localSearchIndex'))).toBe(true);
    for (const file of files) expect([file, (await serveDocs(`/docs/${file}`)).status]).toEqual([file, 200]);
  });

  test('files of a build are kept by browsers', async () => {
    const html = await (await serveDocs('/docs/')).text();
    const script = /src="(\/docs\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? '';
    expect((await serveDocs(script)).headers.get('cache-control')).toContain('immutable');
  });
});
