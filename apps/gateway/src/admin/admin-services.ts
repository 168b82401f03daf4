import type { Access } from '@llm0/core/access/access';
import type { Permission } from '@llm0/core/access/roles';
import type { SemanticCache } from '@llm0/core/cache/semantic/semantic-cache';
import type { WarmCache } from '@llm0/core/cache/warm-cache';
import type { TextChecks } from '@llm0/core/guardrails/compile-guardrails';
import type { HotStore } from '@llm0/core/limits/hot-store';
import type { Chain } from '@llm0/core/routing/chain';
import type { RoutingTables } from '@llm0/core/routing/routing-tables';
import type { SharedTargetHealth } from '@llm0/core/routing/shared-target-health';
import type { Db } from '@llm0/drizzle/client';
import type { SessionUser } from '@llm0/drizzle/queries/access/admin-sessions';
import type { ApplyingChange } from '@llm0/drizzle/queries/access/applies';
import type { Logger } from 'pino';
import type { BackendAdmin } from '../backends/backend-admin';
import type { Config } from '../config/config';
import type { McpAdmin } from '../mcp/mcp-admin';
import type { PostWebhook } from '../observe/post-webhook';
import type { ProviderAdmin } from '../providers/provider-admin';
import type { Clock, Services } from '../services/contract';
import type { Issuers } from '../sign-on/issuers';
import type { StatsReader } from './stats/answer-stats';

/** Services of the admin API, from the composition root. */
export interface AdminServices {
  readonly db: Db;
  /** Reads roll-ups and rows. */
  readonly stats: StatsReader;
  readonly hotStore: HotStore;
  readonly log: Logger;
  readonly warmCache: Pick<WarmCache, 'flush'>;
  readonly semanticCache: Pick<SemanticCache, 'flush'>;
  readonly clock: Clock;
  /** UUIDs for `X-Request-Id`. */
  readonly createId: () => string;
  readonly config: Pick<
    Config,
    | 'adminToken'
    | 'signOn'
    | 'mail'
    | 'environment'
    | 'databaseUrl'
    | 'cacheTtlSeconds'
    | 'cacheMaxBytes'
    | 'logRetentionDays'
    | 'logBodies'
    | 'logBodiesTtlDays'
    | 'requestTimeoutMs'
    | 'answerTimeoutMs'
    | 'workers'
    | 'trustProxyHops'
    | 'port'
    | 'adminPort'
  >;
  readonly fetch: typeof globalThis.fetch;
  /** What issuers of OpenID Connect say of themselves. */
  readonly issuers: Issuers;
  /** Posts to operators' URLs: to private addresses only by ALERT_WEBHOOK_HOSTS. */
  readonly postWebhook: PostWebhook;
  /** Reads the price book and the other tables again in this process. */
  reloadTables(): Promise<void>;
  /** The tables as they are right now. */
  readonly routing: () => RoutingTables;
  /** A target as a project reaches it. */
  readonly connect: Services['connect'];
  readonly runs: Pick<Services['runs'], 'tell'>;
  readonly batches: Services['batches'];
  readonly files: Pick<Services['files'], 'store'>;
  /** The shipped chains. */
  readonly presetChains: readonly Chain[];
  /** Vendors, connections and their tests; seals secrets. */
  readonly providerAdmin: ProviderAdmin;
  /** Checks of whole texts that rules of guardrails may ask for. */
  readonly guardrailChecks: TextChecks;
  /** Throws `invalid_request` for a URL that leads to where requests may not go, or to nowhere. */
  readonly checkUrl: (url: string) => Promise<void>;
  /** MCP servers: their checks and health; seals secrets. */
  readonly mcpAdmin: McpAdmin;
  /** Plain HTTP backends: their checks; seals secrets. */
  readonly backendAdmin: BackendAdmin;
  /** Breakers and cool-downs, from memory. */
  readonly health: Pick<SharedTargetHealth, 'list' | 'restore'>;
  /** Calls of the data plane as a key that an operator chose, held and booked as that key's own are. */
  readonly sendAs: Readonly<Record<'chat' | 'images' | 'speech' | 'models' | 'mcp', SendAs>>;
  /** Token of this process itself, for GATEWAY_CONFIG. */
  readonly ownToken?: string;
  readonly version: string;
  /** The process is about to end: streams end so that others can take them. */
  readonly isStopping?: () => boolean;
}

/** `requestId`: id of the call in its answer and row. */
type SendAs = (request: Request, chosen: { readonly keyHash: string; readonly requestId: string }) => Promise<Response>;

/** Caller: a named token, `ADMIN_TOKEN` for the one from the environment, or a person. */
export interface Actor {
  readonly name: string;
  /** All that the caller may do, anywhere. */
  readonly access: Access;
  /** True if the permission holds for all that this request concerns. */
  readonly may: (permission: Permission) => boolean;
  /** Text that changes whenever the rights do. */
  readonly rights: string;
  /** Set for people. */
  readonly user?: SessionUser;
  /** Id of the named token, its session's included; null for other tokens. */
  readonly tokenId?: string | null;
  /** Set where the dashboard's session opened, not a token. */
  readonly session?: {
    readonly hash: string;
    readonly expiresAtMs: number;
    /** When the person was authenticated; null = unknown. */
    readonly authenticatedAtMs: number | null;
  };
  /** The `If-Match` of the change that is asked for. */
  readonly ifMatch?: string;
  /** The apply of a configuration file that makes the change. */
  readonly apply?: ApplyingChange;
}

/** Hono's environment of every admin route. */
export interface AdminEnv {
  readonly Variables: {
    requestId: string;
    /** The client's address, resolved through trusted proxies. */
    address: string;
    /** Set on the one path of signing in and out. */
    isSession?: true;
    /** Set where the body is for the data plane, which reads it by its own rules. */
    isForDataPlane?: true;
    actor: Actor;
    /** Loads the actor again; undefined without access. */
    whoAsks: () => Promise<Actor | undefined>;
  };
  /** Bun's server, where the app is served by one. */
  readonly Bindings: { requestIP?(request: Request): { readonly address: string } | null };
}
