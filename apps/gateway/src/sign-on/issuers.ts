// An unreachable issuer: new sign-ins fail within seconds and say so; open sessions never ask it.
import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { StoredIdentityProvider } from '@llm0/drizzle/queries/access/identity-providers';
import type { JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Configuration } from 'openid-client';
import type { Config } from '../config/config';

const TIMEOUT_S = 5;
const MOST_KEPT = 100;
/** Nobody makes the gateway ask an issuer more often: one that is away, or for keys that it does not have. */
const FAILED_MS = 2000;
/**
 * Tokens: keys are read again by themselves; endpoints change rarely. A sign-in asks anew, with keys of its own: it learns
 * of an issuer that is away, and of a key that just changed.
 */
const KEPT_MS = { tokens: 3_600_000, 'sign-in': FAILED_MS } as const;
/** Tolerated difference between the clocks, in seconds. */
export const CLOCK_TOLERANCE_S = 300;

export interface IssuerNeeds {
  readonly config: Pick<Config, 'signOn'>;
  readonly providerAdmin: { readonly vault: SecretVault };
  /** Throws for an address that operators may not name. */
  readonly checkUrl: (url: string) => Promise<void>;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: { monotonicMs(): number };
}

/** Loaded with the first sign-in: the start has no use for it. */
export const loadClient = () => import('openid-client');

interface Kept {
  readonly configuration: Promise<Configuration>;
  readonly untilMs: number;
}

/** What issuers say of themselves. */
export class Issuers {
  /** Each change of a provider begins a new entry. */
  private readonly kept = new LRUCache<string, Kept>({ max: MOST_KEPT });
  private readonly keys = new WeakMap<Configuration, JWTVerifyGetKey>();

  constructor(private readonly services: IssuerNeeds) {}

  /** Throws without an answer of the issuer. */
  async configurationOf(
    provider: StoredIdentityProvider,
    use: keyof typeof KEPT_MS = 'sign-in',
  ): Promise<Configuration> {
    const nowMs = this.services.clock.monotonicMs();
    const key = `${use} ${provider.id} ${provider.updatedAtMs}`;
    const known = this.kept.get(key);
    if (known !== undefined && known.untilMs > nowMs) return known.configuration;
    const configuration = this.discover(provider);
    this.kept.set(key, { configuration, untilMs: nowMs + KEPT_MS[use] });
    configuration.catch(() => this.kept.set(key, { configuration, untilMs: nowMs + FAILED_MS }));
    return configuration;
  }

  /** The issuer's public keys, asked for again when a token names another. Throws without an answer of the issuer. */
  async keysOf(provider: StoredIdentityProvider): Promise<JWTVerifyGetKey> {
    const configuration = await this.configurationOf(provider, 'tokens');
    const known = this.keys.get(configuration);
    if (known !== undefined) return known;
    const { createRemoteJWKSet, customFetch } = await import('jose');
    const { jwks_uri: address } = configuration.serverMetadata();
    if (address === undefined) throw new Error(`the issuer ${provider.issuer} names no jwks_uri`);
    const keys = createRemoteJWKSet(new URL(address), {
      ...{ timeoutDuration: TIMEOUT_S * 1000, cooldownDuration: FAILED_MS },
      [customFetch]: (url: string, options: RequestInit) => this.ask(url, options, provider),
    });
    this.keys.set(configuration, keys);
    return keys;
  }

  private async discover(provider: StoredIdentityProvider): Promise<Configuration> {
    const client = await loadClient();
    const { issuer, clientId } = provider;
    const secret = this.secretOf(provider);
    const metadata = { [client.clockTolerance]: CLOCK_TOLERANCE_S, ...(secret && { client_secret: secret }) };
    const { protocol } = new URL(issuer);
    const auth = secret === undefined ? client.None() : undefined;
    return client.discovery(new URL(issuer), clientId, metadata, auth, {
      timeout: TIMEOUT_S,
      // Signatures of ID tokens are checked too, not TLS alone.
      execute: [client.enableNonRepudiationChecks, ...(protocol === 'http:' ? [client.allowInsecureRequests] : [])],
      [client.customFetch]: (url, options) => this.ask(url, options as RequestInit, provider),
    });
  }

  /** An issuer from the admin API leads to public addresses only, unless EGRESS_ALLOW names them. */
  private async ask(url: string, options: RequestInit, { isFromEnvironment, issuer }: StoredIdentityProvider) {
    if (!isFromEnvironment || new URL(url).hostname !== new URL(issuer).hostname) await this.services.checkUrl(url);
    return this.services.fetch(url, { ...options, redirect: 'manual' });
  }

  private secretOf(provider: StoredIdentityProvider): string | undefined {
    const { encryptedSecret: bytes, encryptionKeyId: keyId, isFromEnvironment, id } = provider;
    if (isFromEnvironment) return this.services.config.signOn.provider?.clientSecret;
    return bytes === null || keyId === null ? undefined : this.services.providerAdmin.vault.open({ bytes, keyId }, id);
  }
}
