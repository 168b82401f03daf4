import type { McpServer } from '@llm0/core/mcp/server';
import type { Logger } from 'pino';
import type { Upstream } from '../upstream/upstream';
import { type JudgeTools, ServerEntry } from './server-entry';

export interface RegistryOptions {
  /** The table as it is right now; a server that did not change is the same object. */
  readonly servers: () => ReadonlyMap<string, McpServer>;
  /** What was approved of a server; the same object as long as nothing changed. */
  readonly pinsOf: (serverId: string) => unknown;
  readonly connect: (server: McpServer) => Upstream;
  readonly judge: JudgeTools;
  readonly monotonicMs: () => number;
  readonly log: Pick<Logger, 'warn' | 'debug'>;
}

/** What this process knows of each server, made when it is first asked for and anew where its row changed. */
export class ServerRegistry {
  private readonly entries = new Map<string, ServerEntry>();
  private seen: ReadonlyMap<string, McpServer> | undefined;

  constructor(private readonly options: RegistryOptions) {}

  /** undefined for servers that are not there, or off. */
  find(alias: string): ServerEntry | undefined {
    this.sync();
    const server = this.options.servers().get(alias);
    if (server === undefined || !server.isActive) return undefined;
    const known = this.entries.get(server.id);
    if (known !== undefined) {
      known.noteApprovals();
      return known;
    }
    const entry = new ServerEntry({ ...this.options, server, upstream: this.options.connect(server) });
    this.entries.set(server.id, entry);
    return entry;
  }

  /** Aliases of those that are on, in their order. */
  aliases(): readonly string[] {
    const active = [...this.options.servers().values()].filter(({ isActive }) => isActive);
    return active.map(({ alias }) => alias).sort();
  }

  /** An operator approved a tool, or wants the lists read anew. */
  expire(serverId: string): void {
    this.entries.get(serverId)?.expireAll();
  }

  /** Ends what servers remember of a client's session. */
  endSession(sessionId: string): void {
    for (const { upstream } of this.entries.values()) upstream.endSession(sessionId);
  }

  close(): void {
    for (const entry of this.entries.values()) entry.close();
    this.entries.clear();
  }

  private sync(): void {
    const servers = this.options.servers();
    if (servers === this.seen) return;
    this.seen = servers;
    const live = new Set([...servers.values()].filter(({ isActive }) => isActive));
    for (const [id, entry] of this.entries) {
      if (live.has(entry.server)) continue;
      this.entries.delete(id);
      entry.close();
    }
  }
}
