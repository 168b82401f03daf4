// A server that ends fails the calls it was working on; the next one starts it again, after a wait that grows while it
// does not last.
import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import { findJsonExcess, findJsonExcessInSlices } from '@llm0/core/chat/json-bounds';
import { LARGE_JSON_LENGTH, parseJsonInSlices } from '@llm0/core/chat/json-in-slices';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { McpServer } from '@llm0/core/mcp/server';
import { upstreamFailure } from '@llm0/providers/transport/upstream-failure';
import type { Logger } from 'pino';
import { nextMessageId } from '../upstream/message-id';
import { modernMeta } from '../upstream/negotiate';
import type { NewsFilter, Upstream, UpstreamAsk, UpstreamFacts, UpstreamNews } from '../upstream/upstream';
import { RPC, type RpcMessage, readRpcMessage, rpcError, rpcNotification, rpcResult } from '../wire/json-rpc';
import { LEGACY_VERSION, LEGACY_VERSIONS, META, MODERN_VERSION } from '../wire/protocol';
import { Restarts } from './restarts';
import { type ProgramSettings, ServerProcess } from './server-process';
import { progressOf, StdioAnswer } from './stdio-answer';

export interface StdioUpstreamOptions {
  readonly server: McpServer & { readonly command: string };
  /** Identity of the gateway for servers. */
  readonly self: JsonObject;
  readonly log: Pick<Logger, 'info' | 'warn' | 'debug'>;
  readonly monotonicMs: () => number;
  readonly programs: ProgramSettings;
}

/** A server without discovery may not answer it at all. */
const DISCOVER_MS = 3000;
const MAX_FACTS_BYTES = 1024 * 1024;
const MESSAGE_BOUNDS = { maxTokens: 2_000_000 };
const LIST_NEWS = /^notifications\/(?:tools|prompts|resources)\/list_changed$/;

interface Listener {
  readonly uris: ReadonlySet<string>;
  readonly tell: (news: UpstreamNews) => void;
  readonly end: () => void;
}

/** A server that the gateway runs itself and speaks to by its input and output: one process for all callers. */
export class StdioUpstream implements Upstream {
  private running: ServerProcess | undefined;
  private known: Promise<UpstreamFacts> | undefined;
  private readonly answers = new Map<string, StdioAnswer>();
  private readonly listeners = new Set<Listener>();
  private readonly restarts: Restarts;
  private isClosed = false;
  /** Reason for the last process's end. */
  private endedWhy = 'was stopped.';

  constructor(private readonly options: StdioUpstreamOptions) {
    this.restarts = new Restarts(options.monotonicMs);
  }

  /** Id of the running process, for tests and the log. */
  get pid(): number | undefined {
    return this.running?.pid;
  }

  facts(): Promise<UpstreamFacts> {
    if (this.known !== undefined) return this.known;
    const asked = this.negotiate();
    this.known = asked;
    asked.catch(() => {
      if (this.known === asked) this.known = undefined;
    });
    return asked;
  }

  async ask({ method, params, client, signal, maxBytes, room, onSent }: UpstreamAsk): Promise<StdioAnswer> {
    const { era } = await this.facts();
    const { inputResponses, requestState, ...rest } = params;
    if (era === 'legacy' && (inputResponses !== undefined || requestState !== undefined)) {
      throw new GatewayError('invalid_request', 'This server asks for no input, so "inputResponses" isn\'t allowed.', {
        param: 'inputResponses',
      });
    }
    const given = isObject(params._meta) ? params._meta : {};
    const token = given.progressToken;
    const isTold = typeof token === 'string' || typeof token === 'number';
    const id = nextMessageId();
    const modern =
      era === 'modern'
        ? modernMeta(
            { capabilities: {}, ...(client.info === undefined ? {} : { info: client.info }) },
            this.options.self,
          )
        : {};
    const meta = { ...given, ...modern, ...(isTold ? { progressToken: id } : {}) };
    const sent = { ...(era === 'modern' ? params : rest), ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) };
    if (this.running !== undefined) onSent?.(true);
    return this.send({ id, method, params: sent, signal, maxBytes, room, ...(isTold ? { token } : {}) }, era);
  }

  async replyLater(): Promise<void> {}

  async listen({ resources, signal }: NewsFilter, onNews: (news: UpstreamNews) => void): Promise<void> {
    await this.facts();
    for (const uri of resources)
      this.write({ jsonrpc: '2.0', id: nextMessageId(), method: 'resources/subscribe', params: { uri } });
    await new Promise<void>((resolve) => {
      const listener = { uris: new Set(resources), tell: onNews, end: () => resolve() };
      this.listeners.add(listener);
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
    }).finally(() => {
      for (const listener of this.listeners) if (listener.tell === onNews) this.listeners.delete(listener);
    });
  }

  endSession(): void {}

  close(): void {
    this.isClosed = true;
    this.running?.stop();
  }

  private async negotiate(): Promise<UpstreamFacts> {
    this.start();
    const discovering = this.discover();
    const first = await Promise.race([discovering, Bun.sleep(DISCOVER_MS)]).catch(() => undefined);
    if (first !== undefined) return first;
    const found = discovering.then((facts) => facts ?? Promise.reject(new Error('none')));
    // Slow to start: the first revision that answers wins.
    return Promise.any([this.initialize(), found]).catch((error: AggregateError) => {
      throw error.errors[0];
    });
  }

  private async discover(): Promise<UpstreamFacts | undefined> {
    const meta = modernMeta({ capabilities: {} }, this.options.self);
    const said = await this.say('server/discover', { _meta: meta }, 'modern');
    if (said?.result === undefined) return undefined;
    const { supportedVersions, capabilities, _meta: about } = said.result;
    if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_VERSION)) return undefined;
    const info = isObject(about) ? about[META.serverInfo] : undefined;
    return {
      era: 'modern',
      version: MODERN_VERSION,
      capabilities: isObject(capabilities) ? capabilities : {},
      info: isObject(info) ? info : {},
    };
  }

  private async initialize(): Promise<UpstreamFacts> {
    const { alias } = this.options.server;
    const params = { protocolVersion: LEGACY_VERSION, capabilities: {}, clientInfo: this.options.self };
    const { result, error } = await this.say('initialize', params, 'legacy');
    if (result === undefined) throw upstreamFailure('malformed', alias, `refuses to begin: ${error?.message ?? ''}`);
    const { protocolVersion: version, capabilities, serverInfo } = result;
    if (typeof version !== 'string' || ![...LEGACY_VERSIONS, '2024-11-05'].includes(version)) {
      throw upstreamFailure('malformed', alias, 'speaks no revision of the protocol that is known here.');
    }
    this.write(rpcNotification('notifications/initialized', {}));
    return {
      era: 'legacy',
      version,
      capabilities: isObject(capabilities) ? capabilities : {},
      info: isObject(serverInfo) ? serverInfo : {},
    };
  }

  private async say(method: string, params: JsonObject, era: UpstreamFacts['era']) {
    const signal = new AbortController().signal;
    const answer = this.send({ id: nextMessageId(), method, params, signal, maxBytes: MAX_FACTS_BYTES }, era);
    try {
      for (let part = await answer.next(); part !== undefined; part = await answer.next()) {
        if (part.kind === 'response') return part.response;
      }
    } finally {
      answer.close();
    }
    throw upstreamFailure('malformed', this.options.server.alias, `did not answer ${method}.`);
  }

  private send(
    {
      id,
      method,
      params,
      ...asked
    }: Pick<UpstreamAsk, 'method' | 'params' | 'signal' | 'maxBytes' | 'room'> & {
      id: string;
      token?: string | number;
    },
    era: UpstreamFacts['era'],
  ): StdioAnswer {
    const { alias, timeoutMs } = this.options.server;
    const answer = new StdioAnswer({
      ...{ alias, id, era, timeoutMs },
      ...asked,
      onClose: (isAnswered) => {
        this.answers.delete(id);
        if (!isAnswered) this.write(rpcNotification('notifications/cancelled', { requestId: id }));
      },
    });
    this.answers.set(id, answer);
    if (this.running === undefined) answer.fail(upstreamFailure('connection', alias, this.endedWhy));
    this.write({ jsonrpc: '2.0', id, method, params });
    return answer;
  }

  private write(message: JsonObject): void {
    this.running?.write(JSON.stringify(message));
  }

  private start(): void {
    const { server, log, programs } = this.options;
    if (this.running !== undefined) return;
    if (this.isClosed) throw upstreamFailure('connection', server.alias, 'was stopped.');
    const { waitMs } = this.restarts;
    if (waitMs > 0) {
      throw upstreamFailure(
        'connection',
        server.alias,
        `crashed too often; it restarts in ${Math.ceil(waitMs / 1000)} s.`,
      );
    }
    this.restarts.noteStart();
    const process = new ServerProcess({
      ...{ alias: server.alias, command: server.command, args: server.args, env: server.env, programs, log },
      onLine: (line) => this.takeLine(line),
      onEnd: (why) => this.onEnd(process, why),
    });
    this.running = process;
    log.info({ server: server.alias, pid: process.pid }, 'an MCP server was started');
  }

  private onEnd(process: ServerProcess, why: string): void {
    if (this.running !== process) return;
    const { server, log } = this.options;
    this.running = undefined;
    this.known = undefined;
    this.endedWhy = why;
    this.restarts.noteEnd();
    if (!this.isClosed) log.warn({ server: server.alias, why }, 'an MCP server ended');
    for (const answer of this.answers.values()) answer.fail(upstreamFailure('connection', server.alias, why));
    for (const listener of this.listeners) listener.end();
  }

  private takeLine(line: string): Promise<void> | undefined {
    if (line.trim() === '') return undefined;
    if (line.length > LARGE_JSON_LENGTH) return this.takeLarge(line);
    if (findJsonExcess(line, MESSAGE_BOUNDS) !== undefined) return this.takeNonsense(line);
    try {
      this.take(readRpcMessage(JSON.parse(line) as JsonValue), line);
    } catch {
      return this.takeNonsense(line);
    }
    return undefined;
  }

  private async takeLarge(line: string): Promise<void> {
    if ((await findJsonExcessInSlices(line, MESSAGE_BOUNDS)) !== undefined) return this.takeNonsense(line);
    const value = await parseJsonInSlices(line).catch(() => undefined);
    this.take(readRpcMessage(value), line);
  }

  /** Some print a greeting, or output for stderr. */
  private async takeNonsense(line: string): Promise<void> {
    this.options.log.debug(
      { server: this.options.server.alias, line: line.slice(0, 200) },
      'an MCP server wrote no message',
    );
  }

  private take(message: RpcMessage | undefined, text: string): void {
    if (message === undefined) return;
    if (message.kind === 'request') {
      const { id, method } = message.request;
      // The request has no known caller: all callers share the process.
      const refusal = { code: RPC.methodNotFound, message: `This client cannot answer ${method.slice(0, 60)}.` };
      this.write(method === 'ping' ? rpcResult(id, {}) : rpcError(id, refusal));
      return;
    }
    const of = message.kind === 'response' ? String(message.response.id) : progressOf(message.notification);
    if (of !== undefined) this.answers.get(of)?.take(message, text);
    else if (message.kind === 'notification') this.tell(message.notification);
  }

  private tell(news: UpstreamNews): void {
    const isList = LIST_NEWS.test(news.method);
    const uri = news.method === 'notifications/resources/updated' ? news.params.uri : undefined;
    for (const { uris, tell } of this.listeners) {
      if (isList || (typeof uri === 'string' && uris.has(uri))) tell(news);
    }
  }
}
