import type { McpServer } from '@llm0/core/mcp/server';
import type { EgressOptions } from '@llm0/providers/transport/egress/fetch-guarded';
import { createPinnedFetch } from '@llm0/providers/transport/egress/pinned-fetch';
import { upstreamFailure } from '@llm0/providers/transport/upstream-failure';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { CallsUnderWay } from './front/calls-under-way';
import { EndedSessions, type SessionNews } from './front/ended-sessions';
import { OpenStreams } from './front/news-stream';
import { selfOf } from './front/self';
import { SessionNotes } from './front/session-notes';
import type { McpParts } from './parts';
import type { JudgeTools } from './servers/server-entry';
import { ServerRegistry } from './servers/server-registry';
import { StdioUpstream } from './stdio/stdio-upstream';
import { HttpUpstream } from './upstream/http-upstream';
import { UnreachableUpstream } from './upstream/unreachable-upstream';
import type { Upstream } from './upstream/upstream';

export interface McpOptions {
  /** By alias, as the table is right now. */
  readonly servers: () => ReadonlyMap<string, McpServer>;
  readonly judge: JudgeTools;
  readonly pinsOf: (serverId: string) => unknown;
  readonly egress: Pick<EgressOptions, 'allowedHosts' | 'allowedRanges'>;
  readonly fetch: typeof globalThis.fetch;
  readonly hotStore: SessionNews;
  readonly monotonicMs: () => number;
  readonly log: Logger;
  readonly version: string;
  /** Servers as processes of this machine: MCP_STDIO. */
  readonly mayRunServers: boolean;
}

const MAX_SESSIONS = 10_000;
const KEPT_MS = 24 * 3_600_000;

/** Everything behind `/mcp`; `close` ends what is open. */
export function createMcp(options: McpOptions): McpParts & { close(): void } {
  const { servers, judge, pinsOf, hotStore, monotonicMs, log } = options;
  const registry = new ServerRegistry({
    servers,
    judge,
    pinsOf,
    monotonicMs,
    log,
    connect: (server) => connect(options, server),
  });
  const endedSessions = new EndedSessions(hotStore);
  const sessionNotes = new SessionNotes(hotStore);
  return {
    ...{ registry, endedSessions, sessionNotes },
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

/** The way to a server; one that this gateway has no way to fails each call. */
function connect(options: McpOptions, server: McpServer): Upstream {
  const { egress, fetch, monotonicMs, version, mayRunServers, log } = options;
  const { url, command, transport, alias: provider } = server;
  const self = selfOf({ version });
  const unreachable = (why: string) => new UnreachableUpstream(() => upstreamFailure('connection', provider, why));
  if (server.isUnreadable) return unreachable('has secrets that were sealed with another ENCRYPTION_KEY.');
  if (transport === 'stdio' && command !== null) {
    if (!mayRunServers) return unreachable('is run by the gateway itself, which MCP_STDIO=true allows.');
    return new StdioUpstream({ server: { ...server, command }, self, log, monotonicMs });
  }
  if (transport !== 'http' || url === null) return unreachable('has no address.');
  const pinned = createPinnedFetch({ provider, fetch, monotonicMs, ...egress });
  return new HttpUpstream({ server: { ...server, url }, fetch: pinned, credentials: server.headers, self });
}
