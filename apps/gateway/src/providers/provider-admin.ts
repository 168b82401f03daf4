// Operations on providers other than storage. A failed provider test is an answer, not an error.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { StoredProviderKey } from '@llm0/drizzle/queries/routing/provider-keys';
import { CUSTOM_KIND } from '@llm0/providers/openai-compatible/create-custom-provider';
import { type ProbeOutcome, probeProvider } from '@llm0/providers/probe-provider';
import type { ProviderConnection } from '@llm0/providers/provider-request';
import type { ProviderRegistry } from '@llm0/providers/registry';
import { type EgressOptions, pinUrl } from '@llm0/providers/transport/egress/fetch-guarded';
import { isUnresolved } from '@llm0/providers/transport/upstream-failure';
import type { ConnectedProvider } from '../services/contract';
import type { ProviderConnections } from './connections';

export interface ProviderAdminOptions {
  readonly registry: ProviderRegistry;
  readonly connections: ProviderConnections;
  readonly vault: SecretVault;
  readonly egress: Pick<EgressOptions, 'allowedHosts' | 'allowedRanges' | 'resolve'>;
  readonly fetch: typeof globalThis.fetch;
  /** See `Probe`. */
  readonly maxAnswerBytes: number;
  readonly testTimeoutMs: number;
}

/** A vendor the gateway knows. */
export interface KnownVendor {
  readonly name: string;
  readonly defaultBaseUrl: string;
}

export class ProviderAdmin {
  /** Provider whose API custom providers speak. */
  readonly customKind = CUSTOM_KIND;
  readonly vault: SecretVault;

  constructor(private readonly options: ProviderAdminOptions) {
    this.vault = options.vault;
  }

  vendors(): readonly KnownVendor[] {
    return this.options.registry.list().filter((provider) => provider.respondLocally === undefined);
  }

  /** Tools that the gateway answers, if enabled. */
  builtIn(): readonly string[] {
    const names = this.options.registry.builtIn().map(({ name }) => name);
    return names.filter((name) => this.connected(name) !== undefined);
  }

  isVendor(name: string): boolean {
    return this.options.registry.get(name) !== undefined;
  }

  /** A vendor's API is known; added servers speak OpenAI's. */
  hasFreeTest(name: string): boolean {
    const vendor = this.options.registry.get(name);
    return vendor === undefined || vendor.probeUrl !== undefined;
  }

  /** Current connection of the provider; undefined without one. */
  connected(name: string) {
    return this.options.connections.all().get(name);
  }

  keyState(key: StoredProviderKey) {
    return this.options.connections.keyState(key);
  }

  keyProblem(provider: string) {
    return this.options.connections.keyProblem(provider);
  }

  /** Throws `invalid_request` for a URL that leads to where requests may not go, `upstream_unavailable` for one to nowhere. */
  async checkUrl(name: string, url: string): Promise<void> {
    try {
      await pinUrl(url, this.options.egress);
    } catch (cause) {
      if (!isUnresolved(cause)) throw cause;
      const said = cause instanceof Error ? cause.message : 'Its host is unknown.';
      const message = `The address of the provider "${name}" cannot be resolved: ${said} Nothing was changed.`;
      throw new GatewayError('upstream_unavailable', message, { param: 'base_url', cause, retryAfterMs: 1000 });
    }
  }

  /** Asks the provider one real thing, with the key given or the one that is next. */
  async test(
    name: string,
    request: { key?: StoredProviderKey; projectId?: string; model?: string },
  ): Promise<ProbeOutcome | undefined> {
    const { connections, fetch, testTimeoutMs, maxAnswerBytes } = this.options;
    const { key, projectId, model } = request;
    const connected = key === undefined ? connections.connect(name, projectId) : connections.withKey(key);
    if (connected === undefined) return undefined;
    let connection: ProviderConnection;
    try {
      connection = await usableConnection(connected, name);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { check: model === undefined ? 'models' : 'chat', error, latencyMs: 0 };
    }
    const outcome = await probeProvider({
      provider: (model && connected.provider.forModel?.(model)) || connected.provider,
      connection,
      model,
      fetch: connected.fetch ?? fetch,
      timeoutMs: testTimeoutMs,
      maxAnswerBytes,
    });
    if (outcome.error === undefined) connected.keys?.accepted(connection);
    else connected.keys?.refused(connection, outcome.error);
    return outcome;
  }
}

/** With the key that is next. Throws if the secret of a referenced one can't be read, now either. */
async function usableConnection(
  { keys, connection }: ConnectedProvider,
  provider: string,
): Promise<ProviderConnection> {
  const next = keys?.next(new Set()) ?? connection;
  if (keys === undefined || next.apiKey !== undefined) return next;
  await keys.renew(next);
  const renewed = keys.next(new Set()) ?? next;
  keys.check(renewed, provider);
  return renewed;
}
