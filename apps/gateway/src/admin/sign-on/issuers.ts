// An unreachable issuer: new sign-ins fail within seconds and say so; open sessions never ask it.
import type { StoredIdentityProvider } from '@llm0/drizzle/queries/access/identity-providers';
import { LRUCache } from 'lru-cache';
import type { Configuration } from 'openid-client';
import type { AdminServices } from '../admin-services';

const TIMEOUT_S = 5;
/** Keys are read again by themselves; endpoints change rarely. */
const KEPT_MS = 3_600_000;
const MOST_KEPT = 100;
/** Nobody makes the gateway ask an issuer that is away more often. */
const FAILED_MS = 2000;
/** Tolerated difference between the clocks, in seconds. */
const CLOCK_TOLERANCE_S = 300;

type Needs = Pick<AdminServices, 'config' | 'providerAdmin' | 'checkUrl' | 'fetch' | 'clock'>;

/** Loaded with the first sign-in: the start has no use for it. */
export const loadClient = () => import('openid-client');

interface Kept {
  readonly configuration: Promise<Configuration>;
  readonly untilMs: number;
}

/** What issuers say of themselves, kept for an hour. */
export class Issuers {
  /** Each change of a provider begins a new entry. */
  private readonly kept = new LRUCache<string, Kept>({ max: MOST_KEPT });

  constructor(private readonly services: Needs) {}

  /** Throws without an answer of the issuer. */
  async configurationOf(provider: StoredIdentityProvider): Promise<Configuration> {
    const nowMs = this.services.clock.monotonicMs();
    const key = `${provider.id} ${provider.updatedAtMs}`;
    const known = this.kept.get(key);
    if (known !== undefined && known.untilMs > nowMs) return known.configuration;
    const configuration = this.discover(provider);
    this.kept.set(key, { configuration, untilMs: nowMs + KEPT_MS });
    configuration.catch(() => this.kept.set(key, { configuration, untilMs: nowMs + FAILED_MS }));
    return configuration;
  }

  private async discover(provider: StoredIdentityProvider): Promise<Configuration> {
    const client = await loadClient();
    const { issuer, clientId } = provider;
    const secret = this.secretOf(provider);
    const metadata = { [client.clockTolerance]: CLOCK_TOLERANCE_S, ...(secret && { client_secret: secret }) };
    const { hostname, protocol } = new URL(issuer);
    const auth = secret === undefined ? client.None() : undefined;
    return client.discovery(new URL(issuer), clientId, metadata, auth, {
      timeout: TIMEOUT_S,
      // Signatures of ID tokens are checked too, not TLS alone.
      execute: [client.enableNonRepudiationChecks, ...(protocol === 'http:' ? [client.allowInsecureRequests] : [])],
      [client.customFetch]: (url, options) => this.ask(url, options as RequestInit, provider, hostname),
    });
  }

  /** An issuer from the admin API leads to public addresses only, unless EGRESS_ALLOW names them. */
  private async ask(url: string, options: RequestInit, { isFromEnvironment }: StoredIdentityProvider, host: string) {
    if (!isFromEnvironment || new URL(url).hostname !== host) await this.services.checkUrl(url);
    return this.services.fetch(url, { ...options, redirect: 'manual' });
  }

  private secretOf(provider: StoredIdentityProvider): string | undefined {
    const { encryptedSecret: bytes, encryptionKeyId: keyId, isFromEnvironment, id } = provider;
    if (isFromEnvironment) return this.services.config.signOn.provider?.clientSecret;
    return bytes === null || keyId === null ? undefined : this.services.providerAdmin.vault.open({ bytes, keyId }, id);
  }
}
