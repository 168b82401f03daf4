import { isObject, type JsonObject } from '@llm0/core/chat/json';
import type { McpServer } from '@llm0/core/mcp/server';
import type { Logger } from 'pino';
import { CachedList } from '../lists/cached-list';
import { type ListKind, readList } from '../lists/read-list';
import { type ListedTool, sortNamed, sortTools } from '../lists/sort-tools';
import { ConsentNeeded } from '../oauth/consent-needed';
import type { Upstream, UpstreamNews } from '../upstream/upstream';
import { findParamHeaders, type ParamHeader } from '../wire/param-headers';
import { MAX_NAME_LENGTH, MAX_URI_LENGTH } from '../wire/protocol';

/** A tool that may be called, as far as its server and its description go. */
export interface CallableTool extends ListedTool {
  readonly paramHeaders: readonly ParamHeader[];
}

/** Tools of a server: callable ones, and those that wait for approval. */
export interface ToolView {
  readonly byName: ReadonlyMap<string, CallableTool>;
  readonly list: readonly CallableTool[];
  readonly heldBack: readonly string[];
  /** Tools that no client can be shown. */
  readonly odd: number;
}

/** Compares tools with the operator's approvals and remembers new ones. */
export type JudgeTools = (server: McpServer, tools: readonly ListedTool[]) => Promise<ReadonlySet<string>>;

export interface EntryOptions {
  readonly server: McpServer;
  readonly upstream: Upstream;
  readonly judge: JudgeTools;
  /** Approvals; the same object while unchanged. */
  readonly pinsOf: (serverId: string) => unknown;
  readonly monotonicMs: () => number;
  readonly log: Pick<Logger, 'warn' | 'debug'>;
}

/** Lifetime of lists without a lifetime of the server. */
const TTL_MS = 60_000;
/** Lifetime if the server reports changes. */
const WATCHED_TTL_MS = 300_000;
const MIN_TTL_MS = 1000;
const MAX_TTL_MS = 3_600_000;
const WATCH_RETRY_MS = 5000;

const KIND_OF_NEWS: Readonly<Record<string, readonly ListKind[]>> = {
  'notifications/tools/list_changed': ['tools'],
  'notifications/prompts/list_changed': ['prompts'],
  'notifications/resources/list_changed': ['resources', 'resourceTemplates'],
};

/** Consent may have been given since. */
const isPassing = (error: unknown): boolean => error instanceof ConsentNeeded;

type Listener = (news: UpstreamNews) => void;

/** One server in this process: connection, lists and listeners. */
export class ServerEntry {
  readonly server: McpServer;
  readonly upstream: Upstream;
  readonly tools: CachedList<ToolView>;
  private readonly named: Readonly<Record<Exclude<ListKind, 'tools'>, CachedList<readonly JsonObject[]>>>;
  private readonly listeners = new Set<Listener>();
  private readonly ended = new AbortController();
  private judgedBy: unknown;
  private isWatched = false;
  private watching: Promise<void> | undefined;

  constructor(private readonly options: EntryOptions) {
    const { server, upstream, monotonicMs } = options;
    this.server = server;
    this.upstream = upstream;
    this.tools = new CachedList({ monotonicMs, isPassing, read: () => this.readTools() });
    const named = (kind: ListKind, by: 'name' | 'uri' | 'uriTemplate') =>
      new CachedList({ monotonicMs, isPassing, read: () => this.readNamed(kind, by) });
    this.named = {
      prompts: named('prompts', 'name'),
      resources: named('resources', 'uri'),
      resourceTemplates: named('resourceTemplates', 'uriTemplate'),
    };
  }

  listOf(kind: Exclude<ListKind, 'tools'>): CachedList<readonly JsonObject[]> {
    return this.named[kind];
  }

  /** Calls the listener for each reported change; returns the unsubscriber. */
  onNews(listener: Listener): () => void {
    this.listeners.add(listener);
    this.watch();
    return () => this.listeners.delete(listener);
  }

  /** Expires every list and notifies listeners. */
  expireAll(): void {
    for (const method of Object.keys(KIND_OF_NEWS)) this.take({ method, params: {} });
  }

  /** Reloads the tools after an approval. */
  noteApprovals(): void {
    const pins = this.options.pinsOf(this.server.id);
    if (this.judgedBy === undefined || this.judgedBy === pins) return;
    this.judgedBy = pins;
    this.take({ method: 'notifications/tools/list_changed', params: {} });
  }

  close(): void {
    this.ended.abort();
    this.upstream.close();
    this.listeners.clear();
  }

  private async readTools() {
    const { server, upstream, judge } = this.options;
    const { items, ttlMs } = await readList(upstream, server.alias, 'tools', this.ended.signal);
    const { tools, odd } = sortTools(items);
    const approved = await judge(server, tools);
    this.judgedBy = this.options.pinsOf(server.id);
    const list = tools
      .filter(({ name }) => approved.has(name))
      .map((tool) => ({ ...tool, paramHeaders: findParamHeaders(tool.inputSchema) }));
    const heldBack = tools.filter(({ name }) => !approved.has(name)).map(({ name }) => name);
    const value: ToolView = { list, byName: new Map(list.map((tool) => [tool.name, tool])), heldBack, odd };
    this.watch();
    return { value, ttlMs: this.ttl(ttlMs) };
  }

  private async readNamed(kind: ListKind, by: 'name' | 'uri' | 'uriTemplate') {
    const { server, upstream } = this.options;
    const { items, ttlMs } = await readList(upstream, server.alias, kind, this.ended.signal);
    const value = sortNamed(items, by, by === 'name' ? MAX_NAME_LENGTH : MAX_URI_LENGTH);
    this.watch();
    return { value, ttlMs: this.ttl(ttlMs) };
  }

  private ttl(told: number | undefined): number {
    const ttlMs = told ?? (this.isWatched ? WATCHED_TTL_MS : TTL_MS);
    return Math.min(MAX_TTL_MS, Math.max(MIN_TTL_MS, ttlMs));
  }

  private take(news: UpstreamNews): void {
    for (const kind of KIND_OF_NEWS[news.method] ?? []) {
      if (kind === 'tools') this.tools.expire();
      else this.named[kind].expire();
    }
    for (const listener of this.listeners) listener(news);
  }

  /** One news stream for all users of the server, while this process knows it. */
  private watch(): void {
    this.watching ??= this.watchOn().finally(() => {
      this.watching = undefined;
      this.isWatched = false;
    });
  }

  private async watchOn(): Promise<void> {
    const { server, upstream, log } = this.options;
    const { signal } = this.ended;
    const client = { era: 'modern', version: '', capabilities: {} } as const;
    try {
      const { capabilities } = await upstream.facts();
      const tells = ['tools', 'prompts', 'resources'].some((name) => {
        const ability = capabilities[name];
        return isObject(ability) && ability.listChanged === true;
      });
      if (!tells) return;
      this.isWatched = true;
      await upstream.listen({ lists: true, resources: [], client, signal }, (news) => this.take(news));
    } catch (error) {
      if (!signal.aborted) log.debug({ err: error, server: server.alias }, 'an MCP server tells no news right now');
    }
    // With a pause: a server that ends each stream would be called continuously.
    await new Promise<void>((resolve) => setTimeout(resolve, WATCH_RETRY_MS).unref());
  }
}
