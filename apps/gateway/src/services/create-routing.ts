import type { SecretVault } from '@llm0/core/keys/secret-vault';
import { TurnQueue } from '@llm0/core/limits/turn-queue';
import type { Chain } from '@llm0/core/routing/chain';
import { Peers } from '@llm0/core/routing/places/peers';
import { SessionAffinity } from '@llm0/core/routing/session-affinity';
import type { SharedTargetHealth } from '@llm0/core/routing/shared-target-health';
import type { Database } from '@llm0/drizzle/client';
import { seedPrices } from '@llm0/drizzle/queries/routing/model-pricing';
import { createProviderRegistry } from '@llm0/providers/registry';
import { readEgressAllow } from '@llm0/providers/transport/egress/egress-allow';
import type { Logger } from 'pino';
import { BackendTable } from '../backends/backend-table';
import type { Config } from '../config/config';
import { ServerTable } from '../mcp/servers/server-table';
import type { Metrics } from '../observe/metrics';
import { ProviderConnections } from '../providers/connections';
import { readPriceSeed } from '../providers/price-seed';
import { ProviderAdmin } from '../providers/provider-admin';
import { ProviderChecks } from '../providers/provider-checks';
import { SlotTable } from '../providers/slot-table';
import { Tables } from '../providers/tables';
import { createFetchSecret } from '../secrets/fetch-secret';
import { LiveSecrets } from '../secrets/live-secrets';
import type { AccessTokens } from '../sign-on/access-tokens';
import { createTargetHealth } from './create-target-health';

export interface RoutingParts {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly database: Database;
  readonly vault: SecretVault;
  readonly fetch: typeof globalThis.fetch;
  readonly accessTokens: AccessTokens;
  /** The shipped chains. */
  readonly presets: readonly Chain[];
  /** Shares conversations' targets with other processes; absent without any. */
  readonly tellWarm?: (news: string) => void;
}

/** Routes and connections of providers. */
export interface Routing {
  readonly tables: Tables;
  readonly health: SharedTargetHealth;
  /** Requests that wait for limits or for places at providers. */
  readonly turns: TurnQueue;
  readonly warmTargets: SessionAffinity;
  /** For addresses that operators give. */
  readonly egress: ReturnType<typeof readEgressAllow>;
  readonly providerAdmin: ProviderAdmin;
  readonly providerChecks: ProviderChecks;
  readonly mcpServers: ServerTable;
  readonly backends: BackendTable;
  /** Writes the shipped prices where they changed; before the tables are read. */
  seed(): Promise<void>;
  stop(): void;
}

/** Longest time an operator waits for the test of a provider. */
const MAX_TEST_MS = 15_000;

export function createRouting(parts: RoutingParts): Routing {
  const { config, log, metrics, database, vault, fetch, presets, tellWarm } = parts;
  const registry = createProviderRegistry();
  const egress = readEgressAllow(config.egressAllow);
  const peers = new Peers();
  const health = createTargetHealth(config, peers, ({ provider, model }) => {
    metrics.countOpened({ provider, model });
    log.warn({ provider, model }, 'too many failures: trying this target last for a while');
  });
  const shared = { registry, vault, egress, fetch };
  const secrets = createSecrets(config, log);
  const monotonicMs = () => performance.now();
  const turns = new TurnQueue();
  const slots = new SlotTable(peers, turns);
  const connections = new ProviderConnections({ ...shared, config, secrets, slots, monotonicMs, log });
  const mcpServers = new ServerTable(vault, log);
  const backends = createBackendTable({ config, egress, vault, log });
  const warmTargets = new SessionAffinity({ monotonicMs: () => performance.now(), tell: tellWarm });
  const tables = new Tables({
    ...{ mcpServers, backends, warmTargets, accessTokens: parts.accessTokens },
    db: database.db,
    config,
    connections,
    fetch,
    log,
    presets,
    health,
  });
  secrets.onChange = () =>
    void tables.reload().catch((err: unknown) => log.warn({ err }, 'the tables could not be read again'));
  const testTimeoutMs = Math.min(config.requestTimeoutMs, MAX_TEST_MS);
  const providerAdmin = new ProviderAdmin({
    ...shared,
    connections,
    testTimeoutMs,
    maxAnswerBytes: config.maxResponseBytes,
  });
  return {
    ...{ tables, health, turns, egress, mcpServers, backends, warmTargets },
    providerAdmin,
    providerChecks: createChecks({ tables, health, providerAdmin }, metrics),
    seed: async () => {
      const seed = await readPriceSeed();
      await seedPrices(database.db, seed.models, seed.hash);
    },
    stop: () => {
      health.stop();
      warmTargets.stop();
      tables.stop();
      secrets.stop();
    },
  };
}

function createSecrets({ secrets: { env, vault, federations, refreshMs } }: Config, log: Logger): LiveSecrets {
  // The managers are the operator's own, at addresses of the environment.
  const fetch = createFetchSecret({ env, vault, federations, fetch: globalThis.fetch });
  return new LiveSecrets({ fetch, refreshMs, nowMs: Date.now, log });
}

function createChecks(
  { tables, health, providerAdmin }: Pick<Routing, 'tables' | 'health' | 'providerAdmin'>,
  metrics: Metrics,
): ProviderChecks {
  return new ProviderChecks({
    list: () =>
      [...tables.current().providers.values()].flatMap(({ name, checkIntervalMs }) =>
        checkIntervalMs == null ? [] : { name, intervalMs: checkIntervalMs },
      ),
    test: (name) => providerAdmin.test(name, {}),
    health,
    monotonicMs: () => performance.now(),
    onChecked: (labels) => metrics.providerChecks.inc(labels),
  });
}

/** Bodies of backends are passed on as they are, so nothing decodes them. */
function createBackendTable(
  parts: Pick<RoutingParts, 'config' | 'vault' | 'log'> & Pick<Routing, 'egress'>,
): BackendTable {
  const { config, ...rest } = parts;
  const monotonicMs = () => performance.now();
  return new BackendTable({ ...rest, settings: config.backends, fetch: globalThis.fetch, monotonicMs });
}
