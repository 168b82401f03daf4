import type { StoredProviderKey } from '@llm0/drizzle/queries/routing/provider-keys';
import type { Provider } from '@llm0/providers/provider';
import type { ProviderConnection } from '@llm0/providers/provider-request';
import type { PinnedFetch } from '@llm0/providers/transport/egress/pinned-fetch';
import type { RingKey } from '@llm0/providers/transport/key-ring';
import type { ConnectedProvider } from '../services/contract';
import type { ProviderSettings } from './provider-settings';

/** Address and API of a provider, without keys. */
export interface ProviderSite extends ProviderSettings {
  readonly provider: Provider;
  readonly connection: Omit<ProviderConnection, 'apiKey'>;
  readonly environmentKeys: readonly string[];
  /** Access without a key; `unowned`: all projects until one has its own keys. */
  readonly keyless: 'nobody' | 'everybody' | 'unowned';
  readonly fetch?: PinnedFetch;
  /** Named by the operator. */
  readonly models: readonly string[];
  readonly passthroughPaths?: readonly string[];
}

/** A changed key starts with fresh health. */
export function healthName(key: StoredProviderKey): string {
  return `${key.id}:${Buffer.from(key.encryptedKey.subarray(0, 12)).toString('hex')}`;
}

export function connectedBy(site: ProviderSite, ring: readonly RingKey[]): ConnectedProvider {
  const connection = ring[0]?.connection ?? site.connection;
  const { provider, passthroughPaths, fetch } = site;
  return { provider, connection, passthroughPaths, ...(fetch === undefined ? {} : { fetch, pin: fetch.pin }) };
}
