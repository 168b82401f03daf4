// A server that fails is an answer here, not an error: the operator asked whether it works.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { McpServer } from '@llm0/core/mcp/server';
import type { StoredMcpServer } from '@llm0/drizzle/queries/mcp/servers';
import type { ListedTool } from './lists/sort-tools';
import { type ConsentLink, ConsentNeeded } from './oauth/consent-needed';
import type { Consents } from './oauth/consents';
import type { ServerEntry, ToolView } from './servers/server-entry';
import type { ServerOwner, ServerRegistry } from './servers/server-registry';
import { openNewServer } from './servers/server-table';

export interface McpAdminOptions {
  readonly registry: ServerRegistry;
  readonly vault: SecretVault;
  readonly mayRunServers: boolean;
  readonly servers: () => ReadonlyMap<string, McpServer>;
  readonly consents: Pick<Consents, 'linkFor'>;
}

/** Health of a server in this process. */
export interface ServerHealth {
  readonly state: 'ok' | 'failing' | 'unknown' | 'inactive';
  readonly error: string | null;
  readonly toolCount: number | null;
  /** Tools that are not approved. */
  readonly heldBack: readonly string[];
  /** Tools with unusable names or schemas. */
  readonly oddCount: number;
}

export interface ServerCheck {
  readonly ok: boolean;
  readonly latencyMs: number;
  readonly error: string | null;
  readonly protocolVersion: string | null;
  readonly serverInfo: { readonly name: string; readonly version: string } | null;
}

/** A server that isn't added yet. */
export interface ServerPreview {
  /** Empty with an error. */
  readonly tools: readonly ListedTool[];
  /** Tools with unusable names or schemas. */
  readonly odd: number;
  readonly error: string | null;
  readonly latencyMs: number;
}

/** Longest time an operator waits for a server. */
const MAX_CHECK_MS = 15_000;

/** Operations on MCP servers other than storage. */
export class McpAdmin {
  readonly vault: SecretVault;
  readonly mayRunServers: boolean;

  constructor(private readonly options: McpAdminOptions) {
    this.vault = options.vault;
    this.mayRunServers = options.mayRunServers;
  }

  /** Link for a user's consent; throws if the server needs none. */
  async consentLink(alias: string, owner: ServerOwner): Promise<ConsentLink> {
    const server = this.options.servers().get(alias);
    if (server?.auth !== 'oauth_user') {
      throw new GatewayError('conflict', `"${alias}" needs no consent: its auth is not "oauth_user".`);
    }
    return this.options.consents.linkFor(server, owner, server.oauth.scope ?? undefined);
  }

  health(alias: string): ServerHealth {
    const { registry, servers } = this.options;
    if (registry.find(alias) === undefined) return { ...NOTHING, state: 'inactive' };
    const entry = servers().get(alias)?.auth === 'oauth_user' ? registry.lastOwned(alias) : registry.find(alias);
    if (entry === undefined) return NOTHING;
    const { kept, error } = entry.tools.status();
    // A server without its user's consent is healthy.
    if (error instanceof ConsentNeeded) return { ...NOTHING, ...countOf(kept) };
    if (error !== undefined) return { ...countOf(kept), state: 'failing', error: describe(error) };
    return kept === undefined ? NOTHING : { ...countOf(kept), state: 'ok', error: null };
  }

  /** Reloads the server's lists. */
  async check(alias: string): Promise<ServerCheck> {
    const startedMs = performance.now();
    const entry = this.options.registry.find(alias);
    const done = (outcome: Pick<ServerCheck, 'error' | 'protocolVersion' | 'serverInfo'>): ServerCheck => ({
      ...outcome,
      ok: outcome.error === null,
      latencyMs: performance.now() - startedMs,
    });
    if (entry === undefined) return done({ ...NO_FACTS, error: 'The server is switched off.' });
    entry.expireAll();
    try {
      return done({ ...(await withinTime(readAll(entry))), error: null });
    } catch (error) {
      return done({ ...NO_FACTS, error: describe(error) });
    }
  }

  /** Tools of a server that isn't added yet. */
  async preview(row: Partial<StoredMcpServer>): Promise<ServerPreview> {
    const startedMs = performance.now();
    const timed = () => ({ latencyMs: performance.now() - startedMs });
    try {
      const listed = await withinTime(this.options.registry.preview(openNewServer(this.vault, row)));
      return { ...listed, error: null, ...timed() };
    } catch (error) {
      return { tools: [], odd: 0, error: describe(error), ...timed() };
    }
  }
}

const NO_FACTS = { protocolVersion: null, serverInfo: null };
const NOTHING: ServerHealth = { state: 'unknown', error: null, toolCount: null, heldBack: [], oddCount: 0 };

async function readAll(entry: ServerEntry): Promise<Pick<ServerCheck, 'protocolVersion' | 'serverInfo'>> {
  await entry.tools.current();
  const { version, info } = await entry.upstream.facts();
  const { name, version: release } = info;
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 200) : '');
  return { protocolVersion: version, serverInfo: { name: text(name), version: text(release) } };
}

async function withinTime<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new GatewayError('upstream_timeout', `It did not answer within ${MAX_CHECK_MS / 1000} seconds.`);
    timer = setTimeout(() => reject(error), MAX_CHECK_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

const countOf = (kept: ToolView | undefined) => ({
  toolCount: kept?.list.length ?? null,
  heldBack: kept?.heldBack ?? [],
  oddCount: kept?.odd ?? 0,
});

const describe = (error: unknown): string =>
  error instanceof GatewayError ? error.message : 'The gateway failed unexpectedly.';
