import { parse } from 'tldts';
import { canonicalHost } from './host-list';

/** A host in a text, and the stretch that names it. */
export interface FoundHost {
  /** Canonical; the original text if no parser accepts it. */
  readonly host: string;
  readonly start: number;
  readonly end: number;
  /**
   * `link`: an address that leads there. `shown`: a name as people write it. `perhaps`: a name that is as likely one of a
   * file or of a program. `number`: an IP address alone.
   */
  readonly as: 'link' | 'shown' | 'perhaps' | 'number';
}

/** Longest address that is read. */
export const MAX_ADDRESS = 2048;
const MAX_HOST = 253;
/** A scheme with slashes of either kind, one that needs none, or an address that takes its page's. */
const BEGIN = /[a-z][a-z0-9+.-]{1,20}:[\\/]{2,8}|(?:https?|wss?|ftp):[\\/]?|[("'=<]\s{0,8}[\\/]{2,8}/gi;
const STOP = /[\s<>"'`]/;
const DOTTED_QUAD = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const EDGE = /^[.-]{1,253}|[.-]{1,253}$/g;
/** Ends of hosts that are ends of file names, of names in programs, or words that follow a forgotten blank. */
const AMBIGUOUS: ReadonlySet<string> = new Set([
  ...'ai app cab cc cpa dev fm gz java lua mk ml mm mo mov pl pm ps py rs sc sh so st tf ts vi win zip md'.split(' '),
  ...'am as at be by do id in int is it me my no pm pid to us'.split(' '),
  ...'blue call channel data date delta email events fail free green group host info map name next now open'.split(' '),
  ...'org parts post properties property read red rest run save search secure select store stream target top'.split(
    ' ',
  ),
]);
/** Part after the host in `git@host:path`. */
const REMOTE_PATH = /^:[\w~./]/;
/** Text after a name in a program: a call, an index, a value. */
const IN_PROGRAM = /^(?:\(|\[|;|\s{0,2}[=+]?=)/;

/** All hosts that a text leads to or names, in order of their kinds. */
export function findHosts(text: string): readonly FoundHost[] {
  const links = [...linksOf(text)];
  return [...links, ...shownHosts(text, links)];
}

function* linksOf(text: string): Generator<FoundHost> {
  for (const { 0: begin, index } of text.matchAll(BEGIN)) {
    const from = index + begin.length;
    const address = text.slice(from, from + MAX_ADDRESS).split(STOP, 1)[0] ?? '';
    const end = from + address.length;
    const needsDot = !begin.includes(':');
    for (const shown of authoritiesOf(address)) {
      const name = withoutPort(shown);
      if (name === '' || (needsDot && !/[.[]/.test(name))) continue;
      yield { host: canonicalHost(name) ?? name.toLowerCase(), start: index, end, as: 'link' };
    }
  }
}

/** Host candidates of a URL: browsers stop at a backslash, others read on to an `@` after it. */
function authoritiesOf(address: string): ReadonlySet<string> {
  const browsers = address.split(/[\\/?#]/, 1)[0] ?? '';
  const others = address.split('/', 1)[0] ?? '';
  const names = [browsers, ...(others.includes('@') ? [others] : [])].map((part) => {
    const named = part.slice(part.lastIndexOf('@') + 1);
    return named.split(/[\\?#]/, 1)[0] ?? '';
  });
  return new Set(names);
}

function withoutPort(authority: string): string {
  if (authority.startsWith('[')) return authority.slice(0, authority.indexOf(']') + 1);
  const name = authority.split(/[,;(){}|*!~]/, 1)[0] ?? '';
  return (name.split(':', 1)[0] ?? '').replace(EDGE, '').replace(/\]$/, '');
}

const isHostCode = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  (code >= 48 && code <= 57) ||
  code === 45 ||
  code === 46 ||
  code === 95 ||
  (code > 0xa0 && code !== 0x3001 && !(code >= 0x2000 && code <= 0x206f) && !(code >= 0xff00 && code <= 0xff0e));

/** Names with dots between their parts, outside of links and of mail addresses. */
function* shownHosts(text: string, links: readonly FoundHost[]): Generator<FoundHost> {
  let next = 0;
  for (let start = 0; start < text.length; start++) {
    if (!isHostCode(text.charCodeAt(start))) continue;
    let end = start + 1;
    let hasDot = false;
    for (; end < text.length && isHostCode(text.charCodeAt(end)); end++) {
      const code = text.charCodeAt(end);
      hasDot ||= code === 46 || code === 0x3002;
    }
    while (next < links.length && (links[next]?.end ?? 0) <= start) next++;
    const link = links[next];
    const isInLink = link !== undefined && link.start < end;
    const isMail = text[start - 1] === '@' && !REMOTE_PATH.test(text.slice(end, end + 2));
    if (hasDot && !isInLink && !isMail) {
      const found = shownHost(text, start, end);
      if (found !== undefined) yield found;
    }
    start = end;
  }
}

function shownHost(text: string, start: number, end: number): FoundHost | undefined {
  const shown = text.slice(start, end).replace(EDGE, '');
  if (shown.length > MAX_HOST || shown.length < 4 || shown.includes('..')) return undefined;
  if (DOTTED_QUAD.test(shown)) {
    const host = canonicalHost(shown);
    return host === undefined ? undefined : { host, start, end, as: 'number' };
  }
  if (!/[^\d._-]/.test(shown)) return undefined;
  const host = canonicalHost(shown);
  if (host === undefined || !host.includes('.')) return undefined;
  return { host, start, end, as: isLikely(host, shown, text.slice(end, end + 4)) ? 'shown' : 'perhaps' };
}

/** Under a domain that is given out, and no name of a file or in a program. */
function isLikely(host: string, shown: string, after: string): boolean {
  const { isIcann, publicSuffix } = parse(host);
  if (isIcann !== true || publicSuffix === null || host === publicSuffix) return false;
  if (/^[/:][\w/]/.test(after) || host.startsWith('www.')) return true;
  return !AMBIGUOUS.has(publicSuffix) && !IN_PROGRAM.test(after) && !isNoHost(shown);
}

/** `more.Then it` lacks a blank; `ASP.NET` is a name. */
const isNoHost = (shown: string): boolean => /[a-z]\.[A-Z][a-z]{0,62}$|^[A-Z]{2,8}\.NET$/.test(shown);
