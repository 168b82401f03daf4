import { ConfigError, type EnvReader } from './values';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

export interface SignOnSettings {
  /** undefined: none from the environment. */
  readonly provider?: {
    readonly issuer: string;
    readonly clientId: string;
    /** undefined: a public client, which PKCE protects. */
    readonly clientSecret: string | undefined;
    readonly scopes: string;
    readonly groupsClaim: string;
  };
  /** Admin tokens open the API and the command line only, and each use of ADMIN_TOKEN is audited. */
  readonly isRequired: boolean;
  /** Where browsers reach the dashboard; undefined: as they asked for it. */
  readonly publicUrl: string | undefined;
  /** People sign in again for dangerous changes after so long; null = never. */
  readonly reauthAfterMs: number | null;
}

interface Needs {
  readonly databaseUrl?: string | undefined;
  readonly hasEncryptionKey: boolean;
}

/** Sign-in of people with OpenID Connect. */
export function readSignOn(read: EnvReader, { databaseUrl, hasEncryptionKey }: Needs): SignOnSettings {
  const issuer = readIssuer(read);
  const clientId = read.text('OIDC_CLIENT_ID');
  const settings = {
    clientSecret: read.text('OIDC_CLIENT_SECRET'),
    scopes: read.text('OIDC_SCOPES') ?? 'openid profile email groups',
    groupsClaim: read.text('OIDC_GROUPS_CLAIM') ?? 'groups',
  };
  const isRequired = read.flag('OIDC_REQUIRED', false);
  const isOff = read.text('OIDC_REAUTH_AFTER') === 'off';
  const reauthAfterMs = isOff ? null : read.durationMs('OIDC_REAUTH_AFTER', '30m');
  const isAway = read.text('ADMIN_PORT') !== undefined;
  // With a listener of its own, the dashboard has another address.
  const publicUrl = isAway ? undefined : read.url('PUBLIC_URL');
  if (issuer === undefined) {
    if (isRequired) throw new ConfigError('OIDC_REQUIRED', 'true', 'OIDC_ISSUER is needed with it');
    if (clientId !== undefined) throw new ConfigError('OIDC_CLIENT_ID', clientId, 'OIDC_ISSUER is needed with it');
    return { isRequired, publicUrl, reauthAfterMs };
  }
  if (clientId === undefined) throw new ConfigError('OIDC_ISSUER', issuer, 'OIDC_CLIENT_ID is needed with it');
  if (!settings.scopes.split(' ').includes('openid')) {
    throw new ConfigError('OIDC_SCOPES', settings.scopes, 'openid is needed among them');
  }
  if (databaseUrl !== undefined && !hasEncryptionKey) {
    throw new ConfigError('OIDC_ISSUER', issuer, 'ENCRYPTION_KEY is needed with it and DATABASE_URL');
  }
  return { provider: { issuer, clientId, ...settings }, isRequired, publicUrl, reauthAfterMs };
}

function readIssuer(read: EnvReader): string | undefined {
  if (read.url('OIDC_ISSUER') === undefined) return undefined;
  // Some issuers end in a slash, which belongs to their name.
  const issuer = read.text('OIDC_ISSUER') ?? '';
  if (isIssuerUrl(issuer)) return issuer;
  throw new ConfigError('OIDC_ISSUER', issuer, 'a URL starting with https:// is needed, or http:// on this machine');
}

/** Plain HTTP would let others read and change what the issuer says. */
export function isIssuerUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash, username } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
  return isSafe && search === '' && hash === '' && username === '';
}
