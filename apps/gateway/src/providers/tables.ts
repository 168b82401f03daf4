// Postgres unreachable: the tables stay as they are and are read again at the next change or tick.

import { createPriceBook, type PriceBook } from '@llm0/core/pricing/price-book';
import { type AliasBook, createAliasBook, noAliases } from '@llm0/core/routing/alias';
import { type Chain, mergeChains, TIERS, type Tier } from '@llm0/core/routing/chain';
import { type ConfiguredProvider, createRoutingTables, type RoutingTables } from '@llm0/core/routing/routing-tables';
import type { WarmTargets } from '@llm0/core/routing/session-affinity';
import { type Target, targetKey } from '@llm0/core/routing/target';
import type { TargetHealth } from '@llm0/core/routing/target-health';
import type { Db } from '@llm0/drizzle/client';
import {
  listActiveIdentityProviders,
  type StoredIdentityProvider,
} from '@llm0/drizzle/queries/access/identity-providers';
import { listMcpServers, type StoredMcpServer } from '@llm0/drizzle/queries/mcp/servers';
import { type ApprovedTool, listApprovedTools } from '@llm0/drizzle/queries/mcp/tools';
import { listAllAliases } from '@llm0/drizzle/queries/routing/aliases';
import { listBackends, type StoredBackend } from '@llm0/drizzle/queries/routing/backends';
import { listChains } from '@llm0/drizzle/queries/routing/chains';
import { listPrices } from '@llm0/drizzle/queries/routing/model-pricing';
import { listKeysToConnect } from '@llm0/drizzle/queries/routing/provider-keys';
import { listProviders } from '@llm0/drizzle/queries/routing/providers';
import { listModels } from '@llm0/providers/list-models';
import type { Logger } from 'pino';
import type { Config } from '../config/config';
import type { ConnectedProvider } from '../services/contract';
import { coalesceRuns } from './coalesce-runs';
import type { ProviderConnections } from './connections';

const REFRESH_EVERY_MS = 30_000;
const LIST_MODELS_TIMEOUT_MS = 2000;
const NO_MODELS: ReadonlySet<string> = new Set();

export interface TablesOptions {
  readonly db: Db;
  readonly config: Pick<Config, 'failoverMode' | 'tierModels' | 'maxResponseBytes'>;
  readonly connections: ProviderConnections;
  /** Loads the MCP servers and their approvals. */
  readonly mcpServers: { load(rows: readonly StoredMcpServer[], approved: readonly ApprovedTool[]): void };
  /** Takes the plain HTTP backends. */
  readonly backends: { load(rows: readonly StoredBackend[]): void };
  /** Takes the identity providers in use. */
  readonly accessTokens: { load(providers: readonly StoredIdentityProvider[]): void };
  readonly fetch: typeof globalThis.fetch;
  readonly log: Logger;
  /** The shipped chains. */
  readonly presets: readonly Chain[];
  readonly health?: TargetHealth;
  readonly warmTargets?: WarmTargets;
}

/**
 * Prices, chains, aliases, providers with their models, MCP servers, backends and identity providers, in memory. A background reload
 * replaces all of them.
 */
export class Tables {
  private readonly liveModels = new Map<string, ReadonlySet<string>>();
  private readonly reported = new Set<string>();
  private prices: PriceBook;
  private chains: readonly Chain[];
  private aliases: AliasBook = noAliases;
  private routing: RoutingTables;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly options: TablesOptions) {
    this.prices = createPriceBook([], this.freeProviders());
    this.chains = options.presets;
    this.routing = this.build();
  }

  /** Loads everything once and keeps it fresh. */
  async start(): Promise<void> {
    await this.reload();
    void this.listLiveModels();
    this.timer = setInterval(() => {
      void this.reload().catch((err: unknown) => this.options.log.warn({ err }, 'the tables could not be read again'));
      void this.listLiveModels();
    }, REFRESH_EVERY_MS);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** The shipped chains. */
  get presets(): readonly Chain[] {
    return this.options.presets;
  }

  readonly current = (): RoutingTables => this.routing;

  readonly connect = (target: Target, projectId?: string): ConnectedProvider | undefined => {
    const connected = this.options.connections.connect(target.provider, projectId);
    const provider = connected?.provider.forModel?.(target.model);
    return connected === undefined || provider === undefined ? connected : { ...connected, provider };
  };

  /** Reloads everything; earlier commits are in force when it resolves. */
  readonly reload = coalesceRuns(() => this.readAgain());

  private async readAgain(): Promise<void> {
    const { db, presets } = this.options;
    const [prices, chains, aliases, providers, keys, servers, approved, backends, issuers] = await Promise.all([
      listPrices(db),
      listChains(db),
      listAllAliases(db),
      listProviders(db),
      listKeysToConnect(db),
      listMcpServers(db),
      listApprovedTools(db),
      listBackends(db),
      listActiveIdentityProviders(db),
    ]);
    await this.options.connections.prepare(keys);
    this.options.connections.load(providers, keys);
    this.options.mcpServers.load(servers, approved);
    this.options.backends.load(backends);
    this.options.accessTokens.load(issuers);
    this.prices = createPriceBook(prices, this.freeProviders());
    this.chains = mergeChains(chains, presets);
    this.aliases = createAliasBook(aliases);
    this.routing = this.build();
    this.reportUnpriced([...this.chains.flatMap((chain) => chain.steps), ...aliases.flatMap((one) => one.targets)]);
  }

  /** Each target once: under a cap it is skipped. */
  private reportUnpriced(targets: readonly Target[]): void {
    for (const target of targets) {
      const name = targetKey(target);
      if (this.reported.has(name) || !this.connected().has(target.provider)) continue;
      if (this.prices.find(target.provider, target.model) !== undefined) continue;
      this.reported.add(name);
      this.options.log.warn(
        { target: name },
        'this target of a chain or alias has no price: it is skipped under a cap',
      );
    }
  }

  private connected(): ReadonlyMap<string, ConnectedProvider> {
    return this.options.connections.all();
  }

  /** Models that the provider lists, or the operator's list. */
  private servedBy(name: string): ReadonlySet<string> {
    const named = this.options.connections.modelsOf(name);
    return named.length > 0 ? new Set(named) : (this.liveModels.get(name) ?? NO_MODELS);
  }

  /** A project with its own keys sees its providers and the global ones; others only the global ones. */
  private build(): RoutingTables {
    const { connections } = this.options;
    const projects = connections.projects();
    if (projects.length === 0) return this.buildWith(() => true);
    const everybody = this.buildWith((name) => connections.connect(name) !== undefined);
    const own = new Map(
      projects.map((id) => [id, this.buildWith((name) => connections.connect(name, id) !== undefined)]),
    );
    return { ...this.buildWith(() => true), forProject: (projectId) => own.get(projectId) ?? everybody };
  }

  private buildWith(isCallable: (provider: string) => boolean): RoutingTables {
    const providers = new Map<string, ConfiguredProvider>();
    for (const [name, { provider }] of this.connected()) {
      if (!isCallable(name)) continue;
      const settings = this.options.connections.settingsOf(name);
      providers.set(name, {
        name,
        place: provider.isFree ? 'local' : provider.respondLocally === undefined ? 'cloud' : 'built_in',
        modelPatterns: provider.modelPatterns,
        liveModels: this.servedBy(name),
        yieldsToVendors: this.options.connections.tellsModels(name),
        timeouts: settings?.timeouts,
        isDrained: settings?.isDrained === true,
        checkIntervalMs: settings?.healthCheckIntervalMs ?? null,
      });
    }
    return createRoutingTables({
      providers,
      prices: this.prices,
      chains: this.chains,
      aliases: this.aliases,
      mode: this.options.config.failoverMode,
      substitutes: this.substitutes(),
      health: this.options.health,
      warmTargets: this.options.warmTargets,
    });
  }

  /** Models of the operator's own server that replace each tier. */
  private substitutes(): Partial<Record<Tier, Target>> {
    const local = [...this.connected().values()].find(({ provider }) => provider.isFree)?.provider.name;
    const found: Partial<Record<Tier, Target>> = {};
    if (local === undefined) return found;
    for (const tier of TIERS) {
      const model = this.options.config.tierModels[tier];
      if (model !== undefined) found[tier] = { provider: local, model };
    }
    return found;
  }

  private freeProviders(): ReadonlySet<string> {
    return new Set([...this.connected().values()].filter((one) => one.provider.isFree).map((one) => one.provider.name));
  }

  /** Loads models of providers that list them. */
  private async listLiveModels(): Promise<void> {
    for (const [name, { provider, connection, fetch = this.options.fetch }] of this.connected()) {
      try {
        const models = await listModels({ provider, connection, fetch, timeoutMs: LIST_MODELS_TIMEOUT_MS });
        if (models === undefined) continue;
        this.liveModels.set(name, models);
        this.routing = this.build();
      } catch (err) {
        this.options.log.debug({ err, provider: name }, 'models could not be listed');
      }
    }
  }
}
