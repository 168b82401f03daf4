// Postgres unreachable: the tables stay as they are and are read again at the next change or tick.

import { createPriceBook } from '@llm0/core/pricing/create-price-book';
import type { PriceBook } from '@llm0/core/pricing/price-book';
import type { ConfiguredProvider, RoutingTables } from '@llm0/core/routing/resolve-targets';
import type { Target } from '@llm0/core/routing/target';
import type { Db } from '@llm0/drizzle/client';
import { listPrices } from '@llm0/drizzle/queries/model-pricing';
import type { ProviderConnection } from '@llm0/providers/provider';
import type { ProviderRegistry } from '@llm0/providers/registry';
import type { Logger } from 'pino';
import type { Config } from './config';
import type { ConnectedProvider } from './services-type';

const REFRESH_EVERY_MS = 30_000;
const LIST_MODELS_TIMEOUT_MS = 2000;

export interface TablesOptions {
  readonly db: Db;
  readonly config: Pick<Config, 'providers' | 'demoProvider'>;
  readonly registry: ProviderRegistry;
  readonly fetch: typeof globalThis.fetch;
  readonly log: Logger;
}

/** Prices, providers and what they serve, in memory; replaced as a whole in the background. */
export class Tables {
  private readonly connections = new Map<string, ConnectedProvider>();
  private readonly liveModels = new Map<string, ReadonlySet<string>>();
  private prices: PriceBook;
  private routing: RoutingTables;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly options: TablesOptions) {
    const { config, registry } = options;
    for (const setting of config.providers) {
      const provider = registry.get(setting.name);
      if (provider === undefined) {
        options.log.warn({ provider: setting.name }, 'this provider is configured but not supported yet');
        continue;
      }
      const connection: ProviderConnection = {
        baseUrl: setting.baseUrl ?? provider.defaultBaseUrl,
        apiKey: setting.apiKey,
        options: setting.options,
      };
      this.connections.set(setting.name, { provider, connection });
    }
    if (config.demoProvider) {
      for (const provider of registry.builtIn()) {
        this.connections.set(provider.name, { provider, connection: { baseUrl: provider.defaultBaseUrl } });
      }
    }
    this.prices = createPriceBook([], this.freeProviders());
    this.routing = this.build();
  }

  /** Loads everything once and keeps it fresh. */
  async start(): Promise<void> {
    await this.reload();
    void this.listLiveModels();
    this.timer = setInterval(() => {
      void this.reload().catch((err: unknown) => this.options.log.warn({ err }, 'prices could not be read again'));
      void this.listLiveModels();
    }, REFRESH_EVERY_MS);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  current(): RoutingTables {
    return this.routing;
  }

  connect(target: Target): ConnectedProvider | undefined {
    return this.connections.get(target.provider);
  }

  /** Reads the prices again. */
  async reload(): Promise<void> {
    this.prices = createPriceBook(await listPrices(this.options.db), this.freeProviders());
    this.routing = this.build();
  }

  private build(): RoutingTables {
    const providers = new Map<string, ConfiguredProvider>();
    for (const [name, { provider }] of this.connections) {
      providers.set(name, {
        name,
        modelPatterns: provider.modelPatterns,
        liveModels: this.liveModels.get(name) ?? new Set(),
      });
    }
    return { providers, prices: this.prices };
  }

  private freeProviders(): ReadonlySet<string> {
    return new Set([...this.connections.values()].filter((one) => one.provider.isFree).map((one) => one.provider.name));
  }

  /** Asks the providers that can tell which models they serve. */
  private async listLiveModels(): Promise<void> {
    for (const [name, { provider, connection }] of this.connections) {
      if (provider.modelsUrl === undefined || provider.decodeModels === undefined) continue;
      try {
        const { url, headers } = provider.modelsUrl(connection);
        const answer = await this.options.fetch(url, { headers, signal: AbortSignal.timeout(LIST_MODELS_TIMEOUT_MS) });
        if (!answer.ok) continue;
        this.liveModels.set(name, new Set(provider.decodeModels(await answer.json())));
        this.routing = this.build();
      } catch (err) {
        this.options.log.debug({ err, provider: name }, 'models could not be listed');
      }
    }
  }
}
