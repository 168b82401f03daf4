import page from '../docs-page.html' with { type: 'text' };

const html = String(page);
const script = /<script>([\s\S]*?)<\/script>/.exec(html)?.[1] ?? '';
const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? '';
const sourceHash = (source: string) => `'sha256-${Bun.CryptoHasher.hash('sha256', source, 'base64')}'`;

const POLICY = [
  "default-src 'none'",
  `script-src ${sourceHash(script)}`,
  `style-src ${sourceHash(style)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** One static page that renders the OpenAPI document and loads nothing else. */
export function docsPage(): Response {
  return new Response(html, {
    headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': POLICY },
  });
}
