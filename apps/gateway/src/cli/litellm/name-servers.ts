import { isKnownVendor } from './vendors';

const NAME_LENGTH = 40;
const HASH_CHARACTERS = 8;

/** Identity of a server: its whole URL and the headers of every request. */
export interface ServerIdentity {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One spelling for one server. */
export const identityOf = ({ baseUrl, headers }: ServerIdentity): string =>
  JSON.stringify([
    baseUrl,
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value])
      .sort(),
  ]);

/** From host, port and path, such as `gpu-1-8000-openai`; omits the common `/v1`. Undefined if too long. */
export function shortNameOf(baseUrl: string): string | undefined {
  const name = plainNameOf(baseUrl);
  return name.length > NAME_LENGTH ? undefined : name;
}

/** Includes a hash of its identity: the same name for the same server in any file. */
export function fullNameOf(server: ServerIdentity, more = ''): string {
  const hash = new Bun.CryptoHasher('sha256').update(`${identityOf(server)}${more}`).digest('hex');
  const room = NAME_LENGTH - HASH_CHARACTERS - 1;
  return `${trimEnd(plainNameOf(server.baseUrl).slice(0, room))}-${hash.slice(0, HASH_CHARACTERS)}`;
}

function plainNameOf(baseUrl: string): string {
  const { hostname = '', port = '', pathname = '' } = URL.parse(baseUrl) ?? {};
  const place = `${hostname}${port === '' ? '' : `-${port}`}${pathname.replace(/\/(?:v1)?$/, '')}`;
  const plain = place.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const name = trimEnd(plain.replace(/^-/, '')) || 'server';
  return /^[a-z]/.test(name) && !isKnownVendor(name) && name !== 'demo' ? name : `server-${name}`;
}

const trimEnd = (name: string): string => name.replace(/-$/, '');
