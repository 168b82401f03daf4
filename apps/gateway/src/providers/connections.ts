// An unreadable key is skipped with one warning; the provider uses the others.
import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { StoredProviderKey } from '@llm0/drizzle/queries/routing/provider-keys';
import type { StoredProvider } from '@llm0/drizzle/queries/routing/providers';
import { CUSTOM_KIND, createCustomProvider } from '@llm0/providers/openai-compatible/create-custom-provider';
import type { ProviderRegistry } from '@llm0/providers/registry';
import type { EgressOptions } from '@llm0/providers/transport/egress/fetch-guarded';
import { createPinnedFetch, type PinnedFetch } from '@llm0/providers/transport/egress/pinned-fetch';
import { createKeyHealth, type KeyHealth, KeyRing, type RingKey } from '@llm0/providers/transport/key-ring';
import type { Logger } from 'pino';
import type { Config } from '../config/config';
import type { ProviderSetting } from '../config/providers';
import type { LiveSecrets } from '../secrets/live-secrets';
import { parseReference } from '../secrets/secret-reference';
import type { ConnectedProvider } from '../services/contract';
import { SecretOpener } from './open-secrets';
import { type ProviderSettings, storedSettings } from './provider-settings';
import { connectedBy, healthName, type ProviderSite } from './provider-site';
import type { SlotTable } from './slot-table';

export interface ConnectionOptions {
  readonly config: Pick<Config, 'providers' | 'demoProvider'>;
  readonly registry: ProviderRegistry;
  readonly vault: SecretVault;
  /** Texts of keys that are references. */
  readonly secrets: Pick<LiveSecrets, 'prepare' | 'read' | 'renew' | 'isAway' | 'problemOf'>;
  readonly egress: Pick<EgressOptions, 'allowedHosts' | 'allowedRanges'>;
  readonly fetch: typeof globalThis.fetch;
  readonly monotonicMs: () => number;
  readonly log: Pick<Logger, 'warn'>;
  readonly slots: SlotTable;
}

/** State of a key; `unreadable`: encrypted with another master key, or its secret manager gave none yet. */
export type KeyState = 'ok' | 'resting' | 'refused' | 'unreadable' | 'inactive';

const NOBODY: ReadonlyMap<string, ConnectedProvider> = new Map();

/** Connections to all providers, from the environment and the tables, by project for its own keys. */
export class ProviderConnections {
  private sites: ReadonlyMap<string, ProviderSite> = new Map();
  private shared: ReadonlyMap<string, ConnectedProvider> = new Map();
  private own = new Map<string, Map<string, ConnectedProvider>>();
  private readonly health = new Map<string, KeyHealth>();
  private readonly fetches = new Map<string, PinnedFetch>();
  /** Texts of referenced keys by the names of their health. */
  private readonly texts = new Map<string, string | undefined>();
  /** References in the place of keys, by provider. */
  private references: ReadonlyMap<string, readonly string[]> = new Map();
  private readonly opener: SecretOpener;

  constructor(private readonly options: ConnectionOptions) {
    this.opener = new SecretOpener(options.vault, options.log);
    this.load([], []);
  }

  /** Every callable provider. Those with keys of projects only come without a key. */
  all(): ReadonlyMap<string, ConnectedProvider> {
    if (this.own.size === 0) return this.shared;
    const all = new Map(this.shared);
    for (const byProvider of this.own.values()) {
      for (const [name, connected] of byProvider) {
        const { connection, keys: _keys, ownKeys: _own, ...rest } = connected;
        if (!all.has(name)) all.set(name, { ...rest, connection: { ...connection, apiKey: undefined } });
      }
    }
    return all;
  }

  /** The project's own keys, else the global ones; undefined without either. */
  connect(name: string, projectId?: string): ConnectedProvider | undefined {
    if (this.own.size > 0 && projectId !== undefined) {
      const own = (this.own.get(projectId) ?? NOBODY).get(name);
      if (own !== undefined) return own;
    }
    return this.shared.get(name);
  }

  /** Projects that have keys of their own. */
  projects(): readonly string[] {
    return [...this.own.keys()];
  }

  /** Models that the operator named for a provider added at run time. */
  modelsOf(name: string): readonly string[] {
    return this.sites.get(name)?.models ?? [];
  }

  /** The operator's settings of a stored provider. */
  settingsOf(name: string): ProviderSettings | undefined {
    return this.sites.get(name);
  }

  /** True for a server added without models, which is asked for its list. */
  tellsModels(name: string): boolean {
    const site = this.sites.get(name);
    return site !== undefined && site.models.length === 0 && site.provider !== this.options.registry.get(name);
  }

  keyState(key: StoredProviderKey): KeyState {
    if (!key.isActive) return 'inactive';
    const name = healthName(key);
    const isMissing = this.texts.has(name) && this.texts.get(name) === undefined;
    if (isMissing || this.opener.isUnreadable(key.id)) return 'unreadable';
    const health = this.health.get(name);
    if (health?.isRefused === true) return 'refused';
    return (health?.restsUntilMs ?? 0) > this.options.monotonicMs() ? 'resting' : 'ok';
  }

  /** A connection with this key, for testing; undefined if the key doesn't open or has no provider. */
  withKey(key: StoredProviderKey): ConnectedProvider | undefined {
    const site = this.sites.get(key.provider) ?? this.vendorSite(key.provider);
    const secret = this.opener.key(key);
    if (site === undefined || secret === undefined) return undefined;
    const ring = [this.ringKey(site, secret, healthName(key))];
    return { ...connectedBy(site, ring), keys: new KeyRing(ring, this.options.monotonicMs) };
  }

  /** Why the secret of a key of the provider can't be read now; undefined if all can. */
  keyProblem(provider: string): string | undefined {
    const { secrets } = this.options;
    return this.references
      .get(provider)
      ?.map((reference) => secrets.problemOf(reference))
      .find(Boolean);
  }

  /** Reads the secrets that keys refer to, before `load`. */
  async prepare(keys: readonly StoredProviderKey[]): Promise<void> {
    const given = this.options.config.providers.flatMap(({ name, apiKey, furtherKeys = [] }) =>
      [apiKey, ...furtherKeys].map((text) => ({ name, text })),
    );
    const stored = keys.map((key) => ({ name: key.provider, text: this.opener.key(key) }));
    const references = [...given, ...stored].flatMap(({ name, text }) =>
      text === undefined || parseReference(text) === undefined ? [] : [{ name, text }],
    );
    const byProvider = Map.groupBy(references, ({ name }) => name);
    this.references = new Map([...byProvider].map(([name, own]) => [name, own.map(({ text }) => text)]));
    await this.options.secrets.prepare(new Set(references.map(({ text }) => text)));
  }

  /** Loads the stored providers; unchanged keys keep their health. */
  load(providers: readonly StoredProvider[], keys: readonly StoredProviderKey[]): void {
    const sites = this.buildSites(providers);
    const off = new Set(providers.filter((provider) => !provider.isActive).map(({ name }) => name));
    const active = keys.filter((key) => key.isActive && !off.has(key.provider));
    for (const { provider } of active) {
      const site = sites.has(provider) ? undefined : this.vendorSite(provider);
      if (site !== undefined) sites.set(provider, site);
    }
    const shared = new Map<string, ConnectedProvider>();
    // Keys that rest or were switched off count: the server is theirs all the same.
    const owned = new Set(keys.flatMap((key) => (key.projectId === null ? [] : key.provider)));
    for (const [name, site] of sites) {
      const stored = active.filter((key) => key.provider === name && key.projectId === null);
      const isKeyless = site.keyless === 'everybody' || (site.keyless === 'unowned' && !owned.has(name));
      const connected = this.connectWith(site, stored, { environmentKeys: site.environmentKeys, isKeyless });
      if (connected !== undefined) shared.set(name, connected);
    }
    this.sites = sites;
    this.shared = shared;
    this.own = this.buildOwn(active, sites);
    this.forget(keys);
  }

  private buildSites(stored: readonly StoredProvider[]): Map<string, ProviderSite> {
    const sites = new Map<string, ProviderSite>();
    const { config, registry } = this.options;
    for (const setting of config.providers) {
      const site = this.environmentSite(setting);
      if (site !== undefined) sites.set(setting.name, site);
    }
    for (const provider of config.demoProvider ? registry.builtIn() : []) {
      const connection = { baseUrl: provider.defaultBaseUrl };
      sites.set(provider.name, { provider, connection, environmentKeys: [], keyless: 'everybody', models: [] });
    }
    for (const row of stored) {
      const site = this.storedSite(row, sites.get(row.name));
      if (row.isActive && site !== undefined) sites.set(row.name, site);
      else sites.delete(row.name);
    }
    return sites;
  }

  private environmentSite(setting: ProviderSetting): ProviderSite | undefined {
    const provider = this.options.registry.get(setting.name);
    if (provider === undefined) return undefined;
    const connection = { baseUrl: setting.baseUrl ?? provider.defaultBaseUrl, options: setting.options };
    const environmentKeys = [setting.apiKey, ...(setting.furtherKeys ?? [])].filter((key) => key !== undefined);
    return { provider, connection, environmentKeys, keyless: provider.isFree ? 'everybody' : 'nobody', models: [] };
  }

  /** A vendor that is known by keys alone. */
  private vendorSite(name: string): ProviderSite | undefined {
    const provider = this.options.registry.get(name);
    if (provider === undefined || provider.respondLocally !== undefined) return undefined;
    const connection = { baseUrl: provider.defaultBaseUrl };
    return { provider, connection, environmentKeys: [], keyless: provider.isFree ? 'unowned' : 'nobody', models: [] };
  }

  private storedSite(row: StoredProvider, environment: ProviderSite | undefined): ProviderSite | undefined {
    const isCustom = row.kind === CUSTOM_KIND;
    const base = isCustom ? undefined : (environment ?? this.vendorSite(row.name));
    if (!isCustom && base === undefined) return undefined;
    const provider = base?.provider ?? createCustomProvider(row.name, row.models.length === 0);
    const headers = this.opener.headers(row);
    return {
      provider,
      connection: {
        baseUrl: row.baseUrl ?? base?.connection.baseUrl ?? '',
        options: { ...base?.connection.options, ...row.options },
        ...(headers === undefined ? {} : { headers }),
      },
      environmentKeys: base?.environmentKeys ?? [],
      keyless: base?.keyless ?? 'unowned',
      models: row.models,
      passthroughPaths: row.passthroughPaths,
      ...storedSettings(row),
      ...(row.baseUrl === null ? {} : { fetch: this.pinnedFetch(row.name) }),
    };
  }

  private connectWith(
    site: ProviderSite,
    stored: readonly StoredProviderKey[],
    { environmentKeys, isKeyless }: { readonly environmentKeys: readonly string[]; readonly isKeyless: boolean },
  ): ConnectedProvider | undefined {
    const ring: RingKey[] = stored.flatMap((key) => {
      const secret = this.opener.key(key);
      if (secret === undefined) return [];
      const slots = this.options.slots.find(key.id, key.maxConcurrency);
      return { ...this.ringKey(site, secret, healthName(key)), slots };
    });
    for (const [index, secret] of environmentKeys.entries()) {
      ring.push(this.ringKey(site, secret, `${site.provider.name} environment ${index}`));
    }
    if (ring.length === 0 && !isKeyless) return undefined;
    // One key of the environment alone has nothing to rotate to.
    const rotates = ring.length > 1 || stored.length > 0 || ring.some(({ renew }) => renew !== undefined);
    const keys = rotates ? new KeyRing(ring, this.options.monotonicMs) : undefined;
    const limits = this.options.slots.limitsOf(site.provider.name, site.maxConcurrency, { ring, keys });
    return { ...connectedBy(site, ring), ...limits, ...(keys === undefined ? {} : { keys }) };
  }

  private buildOwn(keys: readonly StoredProviderKey[], sites: ReadonlyMap<string, ProviderSite>) {
    const own = new Map<string, Map<string, ConnectedProvider>>();
    const projectIds = new Set(keys.flatMap(({ projectId }) => projectId ?? []));
    for (const projectId of projectIds) {
      const byProvider = new Map<string, ConnectedProvider>();
      for (const [name, site] of sites) {
        const stored = keys.filter((key) => key.provider === name && key.projectId === projectId);
        if (stored.length === 0) continue;
        // If no key opens, calls fail: global keys would bill somebody else.
        const none = { ...connectedBy(site, []), keys: new KeyRing([], this.options.monotonicMs) };
        const connected = this.connectWith(site, stored, { environmentKeys: [], isKeyless: false });
        byProvider.set(name, { ...(connected ?? none), ownKeys: true });
      }
      own.set(projectId, byProvider);
    }
    return own;
  }

  private ringKey(site: ProviderSite, apiKey: string, name: string): RingKey {
    if (parseReference(apiKey) !== undefined) return this.referencedKey(site, apiKey, name);
    const health = this.health.getOrInsertComputed(name, createKeyHealth);
    return { connection: { ...site.connection, apiKey }, health };
  }

  /** A key that can change at any time. Another text starts with fresh health. */
  private referencedKey(site: ProviderSite, reference: string, name: string): RingKey {
    const { secrets } = this.options;
    const withText = (text: string | undefined): RingKey => {
      if (this.texts.get(name) !== text) this.health.delete(name);
      this.texts.set(name, text);
      const renew = async () => {
        const other = await secrets.renew(reference, text);
        return other === undefined ? undefined : withText(other);
      };
      const health = this.health.getOrInsertComputed(name, createKeyHealth);
      const isAway = () => secrets.isAway(reference);
      return { connection: { ...site.connection, apiKey: text }, health, renew, isAway };
    };
    return withText(secrets.read(reference));
  }

  /** One for each provider, so that its looked-up addresses outlive a refresh. */
  private pinnedFetch(provider: string): PinnedFetch {
    const { egress, monotonicMs, fetch } = this.options;
    return this.fetches.getOrInsertComputed(provider, () =>
      createPinnedFetch({ ...egress, provider, monotonicMs, fetch }),
    );
  }

  private forget(keys: readonly StoredProviderKey[]): void {
    const known = new Set(keys.map(healthName));
    for (const memory of [this.health, this.texts]) {
      for (const name of memory.keys()) if (!name.includes(' ') && !known.has(name)) memory.delete(name);
    }
  }
}
