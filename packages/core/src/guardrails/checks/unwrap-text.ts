const NAMED: Readonly<Record<string, string>> = {
  ...{ colon: ':', sol: '/', bsol: '\\', period: '.', commat: '@', quest: '?', num: '#', hyphen: '-', lowbar: '_' },
  ...{ amp: '&', tab: '', newline: '', shy: '', lt: '<', gt: '>', quot: '"' },
};
const WRAPPED =
  /&(?:#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,8});?|%[0-9a-f]{2}|\\u[0-9a-f]{4}|\\[.:/@_-]|(?<=\w)[[({](?:\.|dot)[\])}](?=\w)/gi;

/**
 * Text with entities, `%2e`, `\u002e`, `\.` and `[.]` decoded, as pages, links and people read it; undefined without
 * any.
 */
export function unwrapText(text: string): string | undefined {
  const unwrapped = text.replace(WRAPPED, readOne);
  return unwrapped === text ? undefined : unwrapped;
}

function readOne(wrapped: string): string {
  if (/^[[({]/.test(wrapped)) return '.';
  if (wrapped.startsWith('%')) return String.fromCharCode(Number.parseInt(wrapped.slice(1), 16));
  if (/^\\u/i.test(wrapped)) return String.fromCharCode(Number.parseInt(wrapped.slice(2), 16));
  if (wrapped.startsWith('\\')) return wrapped.slice(1);
  const name = wrapped.slice(1).replace(';', '').toLowerCase();
  if (!name.startsWith('#')) return NAMED[name] ?? wrapped;
  const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}
