import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { McpServer } from '@llm0/core/mcp/server';
import type { Db } from '@llm0/drizzle/client';
import type { EgressOptions } from '@llm0/providers/transport/egress/fetch-guarded';
import { createPinnedFetch } from '@llm0/providers/transport/egress/pinned-fetch';
import { upstreamFailure } from '@llm0/providers/transport/upstream-failure';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { OpenStreams } from './endpoint/news-stream';
import { selfOf } from './endpoint/self';
import { createOauthFetch, type OauthFetch } from './oauth/bounded-fetch';
import { ClientCredentials } from './oauth/client-credentials';
import { ClientIdentity } from './oauth/client-identity';
import { Consents } from './oauth/consents';
import { GrantKeeper } from './oauth/grant-keeper';
import { UserCredentials } from './oauth/user-credentials';
import type { McpOauth, McpParts } from './parts';
import type { JudgeTools } from './servers/server-entry';
import { type ServerOwner, ServerRegistry } from './servers/server-registry';
import { CallsUnderWay } from './sessions/calls-under-way';
import { EndedSessions, type SessionNews } from './sessions/ended-sessions';
import { SessionNotes } from './sessions/session-notes';
import type { ProgramSettings } from './stdio/server-process';
import { StdioUpstream } from './stdio/stdio-upstream';
import { type Credentials, staticCredentials } from './upstream/credentials';
import { HttpUpstream } from './upstream/http-upstream';
import { UnreachableUpstream } from './upstream/unreachable-upstream';
import type { Upstream } from './upstream/upstream';

export interface McpOptions {
  /** Current table, by alias. */
  readonly servers: () => ReadonlyMap<string, McpServer>;
  readonly judge: JudgeTools;
  readonly pinsOf: (serverId: string) => unknown;
  readonly egress: Pick<EgressOptions, 'allowedHosts' | 'allowedRanges'>;
  readonly fetch: typeof globalThis.fetch;
  readonly hotStore: SessionNews;
  readonly monotonicMs: () => number;
  readonly log: Logger;
  readonly version: string;
  readonly db: Db;
  readonly vault: SecretVault;
  readonly nowMs: () => number;
  /** Gateway URL for users' browsers. */
  readonly publicUrl: string;
  /** Local server processes and their environment; undefined = none (MCP_STDIO). */
  readonly programs: ProgramSettings | undefined;
}

const MAX_SESSIONS = 10_000;
const KEPT_MS = 24 * 3_600_000;

/** Everything behind `/mcp`; `close` ends open streams and servers. */
export function createMcp(options: McpOptions): McpParts & { close(): void } {
  const { servers, judge, pinsOf, hotStore, monotonicMs, log } = options;
  const oauth = createOauth(options);
  const registry = new ServerRegistry({
    servers,
    judge,
    pinsOf,
    monotonicMs,
    log,
    connect: (server, owner) => connect({ ...options, oauth }, server, owner),
  });
  const endedSessions = new EndedSessions(hotStore);
  const sessionNotes = new SessionNotes(hotStore);
  return {
    ...{ servers, registry, endedSessions, sessionNotes, oauth },
    underWay: new CallsUnderWay(),
    streams: new OpenStreams(),
    logLevels: new LRUCache<string, string>({ max: MAX_SESSIONS, ttl: KEPT_MS }),
    close: () => {
      registry.close();
      endedSessions.close();
      sessionNotes.close();
    },
  };
}

function createOauth(options: McpOptions): McpOauth {
  const { egress, fetch, monotonicMs } = options;
  const grants = new GrantKeeper(options);
  const identity = new ClientIdentity(options);
  const fetchFor = ({ alias }: Pick<McpServer, 'alias'>): OauthFetch =>
    createOauthFetch(createPinnedFetch({ provider: alias, fetch, monotonicMs, ...egress }), alias);
  return { identity, grants, consents: new Consents({ ...options, grants, identity }), fetchFor };
}

type Connecting = McpOptions & { readonly oauth: McpOauth };

/** The way to a server; one that this gateway has no way to fails each call. */
function connect(options: Connecting, server: McpServer, owner: ServerOwner | undefined): Upstream {
  const { egress, fetch, monotonicMs, version, programs, log } = options;
  const { url, command, transport, alias: provider } = server;
  const self = selfOf({ version });
  const unreachable = (why: string) => new UnreachableUpstream(() => upstreamFailure('connection', provider, why));
  if (server.isUnreadable) return unreachable('has secrets that were sealed with another ENCRYPTION_KEY.');
  if (transport === 'stdio' && command !== null) {
    if (programs === undefined) return unreachable('is run by the gateway itself, which MCP_STDIO=true allows.');
    return new StdioUpstream({ server: { ...server, command }, self, log, monotonicMs, programs });
  }
  if (transport !== 'http' || url === null) return unreachable('has no address.');
  const pinned = createPinnedFetch({ provider, fetch, monotonicMs, ...egress });
  const reached = { ...server, url };
  const credentials = credentialsFor(options, reached, owner);
  if (credentials === undefined) return unreachable("needs a user's consent, and no user has connected yet.");
  return new HttpUpstream({ server: reached, fetch: pinned, credentials, self });
}

function credentialsFor(
  { oauth, monotonicMs }: Connecting,
  server: McpServer & { readonly url: string },
  owner: ServerOwner | undefined,
): Credentials | undefined {
  const fetchFn = oauth.fetchFor(server);
  if (server.auth === 'oauth_client') return new ClientCredentials(server, fetchFn, monotonicMs);
  if (server.auth !== 'oauth_user') return staticCredentials(server.headers);
  return owner && new UserCredentials({ server, owner, fetchFn, ...oauth });
}
