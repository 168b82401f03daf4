import type { McpServer } from '@llm0/core/mcp/server';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { readList } from '../lists/read-list';
import { sortTools } from '../lists/sort-tools';
import type { Upstream } from '../upstream/upstream';
import { type JudgeTools, ServerEntry } from './server-entry';

/** User of a server with per-user sign-in. */
export interface ServerOwner {
  readonly apiKeyId: string;
  /** `''` = none. */
  readonly customerId: string;
}

/** The servers as one caller meets them. */
export interface RegistryView {
  /** undefined for servers that are not there, or off. */
  find(alias: string): ServerEntry | undefined;
  /** Aliases of those that are on, in their order. */
  aliases(): readonly string[];
}

export interface RegistryOptions {
  /** Current table; an unchanged server stays the same object. */
  readonly servers: () => ReadonlyMap<string, McpServer>;
  /** A server's approvals; the same object while unchanged. */
  readonly pinsOf: (serverId: string) => unknown;
  readonly connect: (server: McpServer, owner: ServerOwner | undefined) => Upstream;
  readonly judge: JudgeTools;
  readonly monotonicMs: () => number;
  readonly log: Pick<Logger, 'warn' | 'debug'>;
}

/** Limit of users' servers in one process. */
const MAX_OWNED = 2000;

/** State of each server, created on first use and recreated when its row changes. */
export class ServerRegistry implements RegistryView {
  private readonly shared = new Map<string, ServerEntry>();
  /** Servers with per-user access: lists belong to one user. */
  private readonly owned = new LRUCache<string, ServerEntry>({
    max: MAX_OWNED,
    dispose: (entry) => entry.close(),
  });
  private seen: ReadonlyMap<string, McpServer> | undefined;

  constructor(private readonly options: RegistryOptions) {}

  /** Servers for this caller. */
  of(owner: ServerOwner): RegistryView {
    return { find: (alias) => this.find(alias, owner), aliases: () => this.aliases() };
  }

  find(alias: string, owner?: ServerOwner): ServerEntry | undefined {
    this.sync();
    const server = this.options.servers().get(alias);
    if (server === undefined || !server.isActive) return undefined;
    const isOwned = server.auth === 'oauth_user' && owner !== undefined;
    const entries = isOwned ? this.owned : this.shared;
    const name = isOwned ? `${server.id} ${owner.apiKeyId} ${owner.customerId}` : server.id;
    const known = entries.get(name);
    if (known !== undefined) {
      known.noteApprovals();
      return known;
    }
    const upstream = this.options.connect(server, isOwned ? owner : undefined);
    const entry = new ServerEntry({ ...this.options, server, upstream });
    entries.set(name, entry);
    return entry;
  }

  /** Current tools of a server that isn't in the table. Nothing of it stays. */
  async preview(server: McpServer): Promise<ReturnType<typeof sortTools>> {
    const upstream = this.options.connect(server, undefined);
    const ended = new AbortController();
    try {
      const { items } = await readList(upstream, server.alias, 'tools', ended.signal);
      return sortTools(items);
    } finally {
      ended.abort();
      upstream.close();
    }
  }

  /** Most recent entry of a server with per-user sign-in. */
  lastOwned(alias: string): ServerEntry | undefined {
    this.sync();
    const server = this.options.servers().get(alias);
    for (const entry of this.owned.values()) if (entry.server === server) return entry;
    return undefined;
  }

  aliases(): readonly string[] {
    const active = [...this.options.servers().values()].filter(({ isActive }) => isActive);
    return active.map(({ alias }) => alias).sort();
  }

  /** Ends a client's session on servers. */
  endSession(sessionId: string): void {
    for (const { upstream } of this.all()) upstream.endSession(sessionId);
  }

  close(): void {
    for (const entry of this.shared.values()) entry.close();
    this.shared.clear();
    this.owned.clear();
  }

  private all(): readonly ServerEntry[] {
    return [...this.shared.values(), ...this.owned.values()];
  }

  private sync(): void {
    const servers = this.options.servers();
    if (servers === this.seen) return;
    this.seen = servers;
    const live = new Set([...servers.values()].filter(({ isActive }) => isActive));
    for (const [name, entry] of this.owned.entries()) if (!live.has(entry.server)) this.owned.delete(name);
    for (const [name, entry] of this.shared) {
      if (live.has(entry.server)) continue;
      this.shared.delete(name);
      entry.close();
    }
  }
}
