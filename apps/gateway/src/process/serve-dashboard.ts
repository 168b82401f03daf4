import { join } from 'node:path';
import { takesEncoding } from './takes-encoding';

const DIST = join(import.meta.dir, '../../../dashboard/dist');

/** Shown until the dashboard has been built. */
const PLACEHOLDER = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="3"><title>LLM0 Gateway</title>
<style nonce="__CSP_NONCE__">body{font:14px/1.5 system-ui,sans-serif;margin:4rem auto;max-width:38rem;padding:0 1rem;color:#222}</style></head>
<body><div id="app"><h1>LLM0 Gateway</h1>
<p>The gateway is running; its dashboard is being built and shows here in a moment. Requests go to
<code>/v1/chat/completions</code>; the admin API is described at <a href="/admin/docs">/admin/docs</a>.</p></div></body></html>`;

const NONCE_MARK = '__CSP_NONCE__';
const NONCE_BYTES = 16;

const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
} as const;

/** Hands a key to `llm0 login`, which listens on a port of the person's computer. */
const CONNECT = /^\/connect\/?$/;

/** No foreign sources, no inline scripts; runtime styles carry the page's nonce. */
const policyFor = (nonce: string, path: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    'media-src data:',
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    `form-action 'self'${CONNECT.test(path) ? ' http://127.0.0.1:*' : ''}`,
    "frame-ancestors 'none'",
  ].join('; ');

const YEAR_SECONDS = 31_536_000;

/** Pages of the dashboard's own router. */
const PAGE =
  /^\/(?:(?:requests|runs|me|connect|projects(?:\/[^/]+)?|money|spend|finance|customers|backends|batches|alerts|audit|latency|models|cache|routing|tools|guardrails|playground|teams|settings)\/?)?$/;
/** Files that its build makes. */
const FILE = /^\/(?:assets\/)?[\w-]+(?:\.[\w-]+)+$/;
/** No file system has longer names: opening one would fail. */
const MOST_NAME = 200;

export const isDashboardPage = (path: string): boolean => PAGE.test(path) || path === '/index.html';

/** Paths of APIs, whose clients read JSON. */
const API = /^\/(?:v1|v1beta|admin|mcp|infer|auth|scim)(?:\/|$)/;

/** True if a person typed an address without a page. */
const isMistyped = (path: string, { accept = '' }: Asked): boolean => accept.includes('text/html') && !API.test(path);

/** Headers of a request that decide how a file is served. */
interface Asked {
  readonly acceptEncoding?: string;
  readonly ifNoneMatch?: string;
  readonly accept?: string;
}

/** The dashboard's file for a path, or its start page for an own page. Browsers get it as a 404 for other paths; API clients get undefined. */
export async function serveDashboard(path: string, asked: Asked = {}): Promise<Response | undefined> {
  if (path.length <= MOST_NAME && FILE.test(path) && path !== '/index.html') return serveFile(path, asked);
  const isPage = isDashboardPage(path);
  if (!isPage && !isMistyped(path, asked)) return undefined;
  const index = Bun.file(join(DIST, 'index.html'));
  if (await index.exists()) return servePage(await index.text(), { ...asked, path }, isPage ? 200 : 404);
  return path === '/' ? servePage(PLACEHOLDER, { ...asked, path }) : undefined;
}

/** Compressed variants of a file, the smallest first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

async function serveFile(
  path: string,
  { acceptEncoding = '', ifNoneMatch = '' }: Asked,
): Promise<Response | undefined> {
  const file = Bun.file(join(DIST, path));
  if (!(await file.exists())) return undefined;
  const cache = path.startsWith('/assets/') ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';
  const headers = {
    ...SECURITY_HEADERS,
    'Cache-Control': cache,
    'Content-Security-Policy': "default-src 'none'",
    'Content-Type': file.type,
    Vary: 'Accept-Encoding',
  };
  for (const [encoding, ending] of ENCODINGS) {
    const small = Bun.file(join(DIST, path + ending));
    if (!takesEncoding(acceptEncoding, encoding) || !(await small.exists())) continue;
    return answerFile(small, { ...headers, ETag: tagOf(file, encoding), 'Content-Encoding': encoding }, ifNoneMatch);
  }
  return answerFile(file, { ...headers, ETag: tagOf(file, 'plain') }, ifNoneMatch);
}

/** Another compression is another representation. Source: RFC 9110, section 8.8.3.3. */
const tagOf = (file: Bun.BunFile, encoding: string): string =>
  `"${file.size.toString(36)}-${file.lastModified.toString(36)}-${encoding}"`;

function answerFile(file: Bun.BunFile, headers: Record<string, string>, ifNoneMatch: string): Response {
  const isKnown = ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === headers.ETag);
  if (!isKnown) return new Response(file, { headers });
  const { 'Content-Encoding': _, ...told } = headers;
  return new Response(null, { status: 304, headers: told });
}

/**
 * Each page has its own nonce, so it has no tag and is compressed on the fly. Hashes don't work: dialogs create styles
 * at run time.
 */
function servePage(html: string, { acceptEncoding, path }: Asked & { readonly path: string }, status = 200): Response {
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(NONCE_BYTES))).toString('base64');
  const text = html.replaceAll(NONCE_MARK, nonce);
  const isSmall = takesEncoding(acceptEncoding, 'gzip');
  return new Response(isSmall ? Bun.gzipSync(text) : text, {
    status,
    headers: {
      ...SECURITY_HEADERS,
      ...(isSmall ? { 'Content-Encoding': 'gzip' } : {}),
      Vary: 'Accept-Encoding',
      'Content-Security-Policy': policyFor(nonce, path),
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-cache',
    },
  });
}
