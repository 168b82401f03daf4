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
import { HttpUpstream } from './upstream/http-upstream';
import type { Upstream } from './upstream/upstream';

export interface McpOptions {
  /** By alias, as the table is right now. */
  readonly servers: () => ReadonlyMap<string, McpServer>;
  readonly judge: JudgeTools;
  readonly egress: Pick<EgressOptions, 'allowedHosts' | 'allowedRanges'>;
  readonly fetch: typeof globalThis.fetch;
  readonly hotStore: SessionNews;
  readonly monotonicMs: () => number;
  readonly log: Logger;
  readonly version: string;
}

const MAX_SESSIONS = 10_000;
const KEPT_MS = 24 * 3_600_000;

/** Everything behind `/mcp`; `close` ends what is open. */
export function createMcp(options: McpOptions): McpParts & { close(): void } {
  const { servers, judge, hotStore, monotonicMs, log } = options;
  const registry = new ServerRegistry({
    servers,
    judge,
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
function connect({ egress, fetch, monotonicMs, version }: McpOptions, server: McpServer): Upstream {
  const { url, alias: provider } = server;
  if (server.transport !== 'http' || url === null) {
    throw upstreamFailure(
      'connection',
      provider,
      `is reached by "${server.transport}", which this gateway has no way to.`,
    );
  }
  const pinned = createPinnedFetch({ provider, fetch, monotonicMs, ...egress });
  const to = { server: { ...server, url }, fetch: pinned, credentials: server.headers, self: selfOf({ version }) };
  return new HttpUpstream(to);
}
