import { join, normalize } from 'node:path';

const DIST = join(import.meta.dir, '../../dashboard/dist');

/** Shown until the dashboard has been built. */
const PLACEHOLDER = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>LLM0 Gateway</title>
<style>body{font:14px/1.5 system-ui,sans-serif;margin:4rem auto;max-width:38rem;padding:0 1rem;color:#222}</style></head>
<body><div id="app"><h1>LLM0 Gateway</h1>
<p>The gateway is running. Send requests to <code>/v1/chat/completions</code>; manage it under
<a href="/admin/docs">/admin/docs</a> or with <code>bun run llm0</code>.</p></div></body></html>`;

const SECURITY_HEADERS = {
  'Content-Security-Policy':
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
} as const;

const YEAR_SECONDS = 31_536_000;

/** The dashboard's file for a path; its start page for paths of its own router; undefined for everybody else's. */
export async function serveDashboard(path: string): Promise<Response | undefined> {
  if (isForeign(path)) return undefined;
  const file = Bun.file(join(DIST, normalize(path === '/' ? '/index.html' : path)));
  if (await file.exists()) {
    const cache = path.startsWith('/assets/') ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';
    return new Response(file, { headers: { ...SECURITY_HEADERS, 'Cache-Control': cache } });
  }
  if (path.includes('.')) return undefined;
  const index = Bun.file(join(DIST, 'index.html'));
  const headers = { ...SECURITY_HEADERS, 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' };
  if (await index.exists()) return new Response(index, { headers });
  return path === '/' ? new Response(PLACEHOLDER, { headers }) : undefined;
}

/** Paths that belong to APIs: unknown ones there are errors, never a page. */
function isForeign(path: string): boolean {
  return /^\/(?:v1|admin|passthrough|infer|mcp)(?:\/|$)/.test(path) || path.includes('..') || path.includes('\0');
}
