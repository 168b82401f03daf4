const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  // Not `no-referrer`, which would remove the origin from the page's own form.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
} as const;

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem;color:#111;background:#fff}' +
  'h1{font-size:1.4rem;overflow-wrap:anywhere}dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}' +
  'dt{color:#555}dd{margin:0;overflow-wrap:anywhere}button{font:inherit;padding:.5rem 1.25rem;cursor:pointer}' +
  '@media(prefers-color-scheme:dark){body{color:#eee;background:#111}dt{color:#aaa}}';

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

function page(status: number, title: string, body: string, headers: Readonly<Record<string, string>> = {}): Response {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><main><h1>${escapeHtml(title)}</h1>${body}</main></body></html>`;
  return new Response(html, { status, headers: { ...HEADERS, ...headers } });
}

export interface ConsentFacts {
  readonly alias: string;
  readonly host: string;
  readonly keyName: string;
  readonly customerId: string;
  /** Returned by the button. */
  readonly token: string;
}

/** Names the key and server before the redirect, because the link may come from somebody else. */
export function askPage({ alias, host, keyName, customerId, token }: ConsentFacts, cookie: string): Response {
  const facts: readonly (readonly [string, string])[] = [
    ['Server', `${alias} (${host})`],
    ['API key', keyName],
    ...(customerId === '' ? [] : [['Customer', customerId] as const]),
  ];
  const list = facts.map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`).join('');
  const warning =
    'Continue only if you asked for this yourself. Everyone with this API key can then use the server in your name.';
  const form = `<form method="post"><input type="hidden" name="token" value="${token}"><button type="submit">Continue</button></form>`;
  return page(200, `Connect ${alias}`, `<dl>${list}</dl><p>${warning}</p>${form}`, { 'Set-Cookie': cookie });
}

export const donePage = (alias: string): Response =>
  page(200, `${alias} is connected`, '<p>You can close this window and continue.</p>');

export const failedPage = (status: number, why: string): Response =>
  page(status, 'Not connected', `<p>${escapeHtml(why)}</p>`);

/** On to the authorization server. */
export const sendOn = (url: URL, cookie: string): Response =>
  new Response(null, { status: 303, headers: { ...HEADERS, Location: url.href, 'Set-Cookie': cookie } });
