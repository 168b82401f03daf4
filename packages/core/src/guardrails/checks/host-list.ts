import { isIPv6 } from 'node:net';
import { domainToUnicode } from 'node:url';
import { foldText } from '../folded-text';

const MAPPED = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/;

/** A host in URL form: lower case, punycode, canonical address, no trailing dot; undefined if invalid. */
export function canonicalHost(shown: string): string | undefined {
  const named = isIPv6(shown) ? `[${shown}]` : shown;
  if (/[\s/\\?#@]/.test(named) || (named.includes(':') && !named.startsWith('['))) return undefined;
  const parsed = URL.parse(`http://${named}/`);
  if (parsed === null) return undefined;
  const mapped = MAPPED.exec(parsed.hostname);
  if (mapped === null) return parsed.hostname.replace(/\.$/, '');
  const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** Hosts, and with `*.` in front all that is below one. */
export class HostList {
  private readonly hosts = new Set<string>();
  private readonly above = new Set<string>();

  /** Throws where an entry is no host. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const isAbove = entry.startsWith('*.');
      const host = canonicalHost(isAbove ? entry.slice(2) : entry);
      if (host === undefined || host === '' || host.includes('*')) throw new Error(`"${entry}" is no host name`);
      (isAbove ? this.above : this.hosts).add(host);
    }
  }

  /** `host` is canonical. */
  has(host: string): boolean {
    if (this.hosts.has(host)) return true;
    for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1))
      if (this.above.has(host.slice(dot + 1))) return true;
    return false;
  }

  /** True for a look-alike host: `exаmple.com` with a letter of another script. */
  looksLike(host: string): boolean {
    if (this.has(host)) return true;
    return host.includes('xn--') && this.has(foldText(domainToUnicode(host), 'words').text);
  }
}
