import type { McpServer } from '@llm0/core/mcp/server';
import type { OpenStreams } from './endpoint/news-stream';
import type { OauthFetch } from './oauth/bounded-fetch';
import type { ClientIdentity } from './oauth/client-identity';
import type { Consents } from './oauth/consents';
import type { GrantKeeper } from './oauth/grant-keeper';
import type { ServerRegistry } from './servers/server-registry';
import type { CallsUnderWay } from './sessions/calls-under-way';
import type { EndedSessions } from './sessions/ended-sessions';
import type { SessionNotes } from './sessions/session-notes';

/** Use of servers that need consent. */
export interface McpOauth {
  readonly identity: ClientIdentity;
  readonly grants: GrantKeeper;
  readonly consents: Consents;
  readonly fetchFor: (server: Pick<McpServer, 'alias'>) => OauthFetch;
}

/** Services of MCP only. */
export interface McpParts {
  /** Current table, by alias. */
  readonly servers: () => ReadonlyMap<string, McpServer>;
  readonly registry: ServerRegistry;
  readonly oauth: McpOauth;
  readonly underWay: CallsUnderWay;
  readonly endedSessions: EndedSessions;
  readonly sessionNotes: SessionNotes;
  readonly streams: OpenStreams;
  /** Log levels of legacy clients, by `levelOwner`. */
  readonly logLevels: LevelMemory;
}

/** A server as calls need it. */
export type PricedServer = Pick<McpServer, 'id' | 'alias' | 'pricePerCallNanoUsd'>;

export interface LevelMemory {
  get(owner: string): string | undefined;
  set(owner: string, level: string): void;
}
