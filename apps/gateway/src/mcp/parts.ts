import type { McpServer } from '@llm0/core/mcp/server';
import type { CallsUnderWay } from './front/calls-under-way';
import type { EndedSessions } from './front/ended-sessions';
import type { OpenStreams } from './front/news-stream';
import type { SessionNotes } from './front/session-notes';
import type { ServerRegistry } from './servers/server-registry';

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
