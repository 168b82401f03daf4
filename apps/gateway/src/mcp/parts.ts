import type { McpServer } from '@llm0/core/mcp/server';
import type { OpenStreams } from './front/news-stream';
import type { ServerRegistry } from './servers/server-registry';
import type { CallsUnderWay } from './sessions/calls-under-way';
import type { EndedSessions } from './sessions/ended-sessions';
import type { SessionNotes } from './sessions/session-notes';

/** What serving MCP needs beside what all requests need. */
export interface McpParts {
  readonly registry: ServerRegistry;
  readonly underWay: CallsUnderWay;
  readonly endedSessions: EndedSessions;
  readonly sessionNotes: SessionNotes;
  readonly streams: OpenStreams;
  /** Of clients with sessions, by session. */
  readonly logLevels: LevelMemory;
}

/** A server as calls need it. */
export type PricedServer = Pick<McpServer, 'id' | 'alias' | 'pricePerCallNanoUsd'>;

export interface LevelMemory {
  get(sessionId: string): string | undefined;
  set(sessionId: string, level: string): void;
}
