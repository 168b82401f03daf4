import { DIGITS, type Finder, isAlphanumeric, LETTERS, oneOf, type Span, trailingRun } from '../span';

interface SecretShape {
  readonly kind: string;
  /** What it begins with. */
  readonly heads: readonly string[];
  /** Least characters behind the head. */
  readonly least: number;
}

/** Keys by what their vendors let them begin with. Source: the vendors' own documents on their keys. */
const SHAPES: readonly SecretShape[] = [
  { kind: 'gateway_key', heads: ['llm0_live_', 'llm0_admin_'], least: 16 },
  {
    kind: 'api_key',
    heads: [
      'sk-',
      'sk_live_',
      'sk_test_',
      'rk_live_',
      'rk_test_',
      'pk_live_',
      'gsk_',
      'xai-',
      'pplx-',
      'hf_',
      'r8_',
      'tgp_',
      'fw_',
      'nvapi-',
    ],
    least: 16,
  },
  { kind: 'google_key', heads: ['AIza', 'GOCSPX-', 'ya29.'], least: 20 },
  { kind: 'aws_key', heads: ['AKIA', 'ASIA'], least: 16 },
  { kind: 'github_token', heads: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'], least: 30 },
  { kind: 'gitlab_token', heads: ['glpat-', 'gldt-', 'glrt-'], least: 16 },
  { kind: 'slack_token', heads: ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xapp-'], least: 16 },
  { kind: 'npm_token', heads: ['npm_'], least: 30 },
  { kind: 'pypi_token', heads: ['pypi-'], least: 30 },
  { kind: 'sendgrid_key', heads: ['SG.'], least: 30 },
  { kind: 'twilio_key', heads: ['SK'], least: 32 },
  { kind: 'shopify_token', heads: ['shpat_', 'shpss_', 'shpca_'], least: 30 },
  { kind: 'telegram_token', heads: ['bot'], least: 40 },
  { kind: 'digitalocean_token', heads: ['dop_v1_', 'doo_v1_'], least: 40 },
  { kind: 'jwt', heads: ['eyJ'], least: 30 },
];
/** Of all of them. */
const SHORTEST = Math.min(...SHAPES.flatMap(({ heads, least }) => heads.map((head) => head.length + least)));
const isToken = oneOf(`${DIGITS}${LETTERS}_-.+/=:~`);
/** A token by nothing but its looks: as long, and as mixed. */
/** Characters of a token that tell how evenly they are spread. */
const MOST_COUNTED = 4096;
const ENTROPY = { least: 24, bits: 3.6 } as const;
const PEM_BEGIN = '-----BEGIN ';
const PEM_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/g;
const PEM_HEAD = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/g;
const MAX_PEM_HEAD = 70;
/** `postgres://user:password@host/…`. */
const CONNECTION = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"']{0,100}:[^\s@/"']{1,200}@[^\s"'<>]{1,300}/gi;
const isLink = (code: number): boolean => code > 32 && code !== 34 && code !== 39 && code !== 60 && code !== 62;
const MAX_CONNECTION = 640;

/** Keys of vendors, private keys, tokens, addresses with passwords, and long strings that look like chance. */
export const findSecrets: Finder = {
  find(text, isEnd) {
    const spans = [...privateKeys(text, isEnd)];
    // Each is decided by itself: what waits for another one still overlaps with what is found here.
    const openToken = isEnd ? Number.POSITIVE_INFINITY : trailingRun(text, isToken);
    for (const { start, end } of tokensOf(text)) {
      if (end - start < SHORTEST) continue;
      const token = text.slice(start, end);
      const kind = end < openToken ? kindOf(token) : undefined;
      if (kind !== undefined) spans.push({ start, end: start + lengthOf(token), kind });
    }
    const openLink = isEnd ? Number.POSITIVE_INFINITY : trailingRun(text, isLink, MAX_CONNECTION);
    if (!text.includes('://')) return spans;
    for (const { 0: found, index } of text.matchAll(CONNECTION)) {
      const end = index + found.length;
      if (end < openLink) spans.push({ start: index, end, kind: 'connection_string' });
    }
    return spans;
  },
  openFrom(text) {
    return Math.min(trailingRun(text, isToken), trailingRun(text, isLink, MAX_CONNECTION), openKey(text));
  },
};

function* tokensOf(text: string): Generator<{ readonly start: number; readonly end: number }> {
  for (let start = 0; start < text.length; start++) {
    if (!isToken(text.charCodeAt(start))) continue;
    let end = start + 1;
    while (end < text.length && isToken(text.charCodeAt(end))) end++;
    if (end - start >= SHORTEST) yield* cutAtMarks(text, start, end);
    start = end;
  }
}

/** `key=value` and `a:b` are two tokens; a token ends before the full stop of its sentence. */
function* cutAtMarks(
  text: string,
  start: number,
  end: number,
): Generator<{ readonly start: number; readonly end: number }> {
  let from = start;
  for (let at = start; at <= end; at++) {
    const mark = at === end ? ':' : text[at];
    const isAssignment = mark === ':' || (mark === '=' && isAlphanumeric(text.charCodeAt(at + 1)));
    if (!isAssignment) continue;
    if (at > from) yield { start: from, end: at };
    from = at + 1;
  }
}

const lengthOf = (token: string): number => token.replace(/[.:]{1,3}$/, '').length;

function kindOf(token: string): string | undefined {
  for (const { kind, heads, least } of SHAPES) {
    const head = heads.find((known) => token.startsWith(known));
    if (head !== undefined && token.length - head.length >= least) return kind;
  }
  return looksLikeChance(token) ? 'token' : undefined;
}

/** Letters of both cases and digits, without a word in them, as evenly spread as chance spreads them. */
function looksLikeChance(token: string): boolean {
  if (token.length < ENTROPY.least || !/\d/.test(token) || !/[a-zA-Z]/.test(token)) return false;
  if (/[/.]/.test(token) && !/^[A-Za-z0-9+/=_-]{40,}$/.test(token)) return false;
  const isHex = /^[0-9a-f-]{1,200}$/i.test(token);
  // Ids are hexadecimal: those of 32 digits with hyphens are everywhere.
  if (isHex) return token.length >= 40 && !token.includes('-');
  return /[a-z]/.test(token) && /[A-Z]/.test(token) && bitsOf(token) >= ENTROPY.bits;
}

/** Bits a character, by how often each comes. */
function bitsOf(token: string): number {
  const counts = new Map<string, number>();
  for (const character of token.slice(0, MOST_COUNTED)) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  const length = Math.min(token.length, MOST_COUNTED);
  for (const count of counts.values()) bits -= (count / length) * Math.log2(count / length);
  return bits;
}

/** From its first line to its last, or to where the text ends. */
function* privateKeys(text: string, isEnd: boolean): Generator<Span> {
  if (!text.includes(PEM_BEGIN)) return;
  for (const { start, end } of keysIn(text)) {
    if (end !== undefined) yield { start, end, kind: 'private_key' };
    else if (isEnd) yield { start, end: text.length, kind: 'private_key' };
  }
}

/** Each first line, and where the last one behind it ends; the text is read once, however many there are. */
function* keysIn(text: string): Generator<{ readonly start: number; readonly end: number | undefined }> {
  let last: RegExpExecArray | null = null;
  for (const { 0: head, index } of text.matchAll(PEM_HEAD)) {
    const behind = index + head.length;
    if (last === null || last.index < behind) {
      PEM_END.lastIndex = behind;
      last = PEM_END.exec(text);
    }
    yield { start: index, end: last === null ? undefined : last.index + last[0].length };
    if (last === null) return;
  }
}

/** Where a key begins that does not end yet, or what may become the first line of one. */
function openKey(text: string): number {
  if (!text.includes('-----')) return text.length;
  for (const { start, end } of keysIn(text)) if (end === undefined) return start;
  const from = text.lastIndexOf('-----', text.length - 1);
  const begin = text.lastIndexOf(PEM_BEGIN);
  if (begin >= 0 && text.length - begin <= MAX_PEM_HEAD && !text.slice(begin + PEM_BEGIN.length).includes('-----'))
    return begin;
  return from >= 0 && PEM_BEGIN.startsWith(text.slice(from)) ? from : text.length;
}
