// Before the build, a page says so and reloads itself.
import { join } from 'node:path';

const DIST = join(import.meta.dir, '../../../docs/dist');
const BASE = /^\/docs(?=\/|$)/;
/** File names of the build: none begins with a dot. */
const FILE = /^(?:\/[\w@~-][\w@~.-]*)*\/?$/;
const MOST_PATH = 300;
const YEAR_SECONDS = 31_536_000;

const PLACEHOLDER = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="3"><title>Documentation</title></head>
<body><p>The documentation is being built and shows here in a moment.</p></body></html>`;

export const isDocsPath = (path: string): boolean => BASE.test(path);

/** A file of the documentation's site; pages go without their ending. */
export async function serveDocs(path: string): Promise<Response> {
  const name = path.replace(BASE, '');
  if (!FILE.test(name) || path.length > MOST_PATH) return servePage('404.html', 404);
  const bare = name.replace(/\/$/, '');
  for (const page of [`${bare}.html`, `${bare}/index.html`]) {
    if (await Bun.file(join(DIST, page)).exists()) return servePage(page, 200);
  }
  const file = Bun.file(join(DIST, bare));
  if (bare.includes('.') && (await file.exists()))
    return bare.endsWith('.html') ? servePage(bare, 200) : serveFile(file);
  return servePage('404.html', 404);
}

async function servePage(name: string, status: number): Promise<Response> {
  const file = Bun.file(join(DIST, name));
  const isBuilt = await file.exists();
  const html = isBuilt ? await file.text() : PLACEHOLDER;
  return new Response(html, {
    status: isBuilt ? status : 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policyFor(html),
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    },
  });
}

const serveFile = (file: Bun.BunFile): Response =>
  new Response(file, {
    headers: {
      'Content-Type': file.type,
      'Content-Security-Policy': "default-src 'none'",
      'Cache-Control': (file.name ?? '').includes('/assets/')
        ? `public, max-age=${YEAR_SECONDS}, immutable`
        : 'no-cache',
      'X-Content-Type-Options': 'nosniff',
    },
  });

/** The page's own scripts, by their hash, and files of this origin. */
function policyFor(html: string): string {
  const scripts = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, text = '']) => `'sha256-${new Bun.CryptoHasher('sha256').update(text).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${scripts.join(' ')}`.trim(),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
