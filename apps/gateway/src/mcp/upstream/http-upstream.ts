// Calls to an unreachable or unknown server fail; each retries the negotiation.
import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { upstreamFailure } from '@llm0/providers/transport/upstream-failure';
import { encodeHeaderValue } from '../wire/header-values';
import { NOT_RUN, type RpcId, type RpcResponse, rpcReply } from '../wire/json-rpc';
import { META, NAMED_BY } from '../wire/protocol';
import { HttpAnswer } from './http-answer';
import { type LegacySession, LegacySessions } from './legacy-sessions';
import { listenLegacy, listenModern } from './listen-upstream';
import { nextMessageId } from './message-id';
import { discover, initialize, modernHeaders, modernMeta, type Negotiating, sessionHeaders } from './negotiate';
import { deleteSession, postMessage } from './post-message';
import { hasModernCode, type Refusal, readRefusal } from './read-answer';
import type { NewsFilter, Upstream, UpstreamAnswer, UpstreamAsk, UpstreamFacts, UpstreamNews } from './upstream';

const SET_LEVEL = 'logging/setLevel';
/** Statuses by which a server may reject an unknown revision. */
const OTHER_ERA: ReadonlySet<number> = new Set([400, 404, 405, 406, 415, 426]);

/** A server over HTTP in any revision: tries the newest first and remembers the result. */
export class HttpUpstream implements Upstream {
  private known: Promise<UpstreamFacts> | undefined;
  private readonly sessions: LegacySessions;
  private readonly ended = new AbortController();

  constructor(private readonly to: Negotiating) {
    this.sessions = new LegacySessions(
      (client) => initialize(to, client, this.ended.signal),
      (session) => this.endAtServer(session),
    );
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

  async ask(ask: UpstreamAsk): Promise<UpstreamAnswer> {
    const { era } = await this.facts();
    const first = era === 'modern' ? await this.askModern(ask) : await this.askLegacy(ask);
    if (first instanceof HttpAnswer) return first;
    // The server changed or restarted since negotiation; nothing ran yet.
    this.known = undefined;
    ask.onSent?.(false);
    const now = (await this.facts()).era;
    const second = now === 'modern' ? await this.askModern(ask) : await this.askLegacy(ask);
    if (second instanceof HttpAnswer) return second;
    throw second.failure;
  }

  async replyLater(replyTo: string, id: RpcId, answer: Pick<RpcResponse, 'result' | 'error'>): Promise<void> {
    const [version = '', session = ''] = replyTo.split(' ', 2);
    const known = { version, capabilities: {}, info: {}, ...(session === '' ? {} : { id: session }) };
    await this.tell(rpcReply(id, answer), known, AbortSignal.timeout(this.to.server.timeoutMs));
  }

  async listen(filter: NewsFilter, onNews: (news: UpstreamNews) => void): Promise<void> {
    const facts = await this.facts();
    const listening = { ...filter, signal: AbortSignal.any([filter.signal, this.ended.signal]) };
    if (facts.era === 'modern') return listenModern(this.to, { ...listening, facts }, onNews);
    const session = await this.sessions.of(filter.caller, filter.client);
    return listenLegacy(this.to, { ...listening, session }, onNews);
  }

  endSession(sessionId: string): void {
    this.sessions.endOf(sessionId);
  }

  close(): void {
    this.sessions.clear();
    this.ended.abort();
  }

  private async negotiate(): Promise<UpstreamFacts> {
    const modern = await discover(this.to, this.ended.signal);
    if (modern !== undefined) return modern;
    const { version, capabilities, info } = await this.sessions.of();
    return { era: 'legacy', version, capabilities, info };
  }

  private async askModern(ask: UpstreamAsk): Promise<HttpAnswer | Refusal> {
    const { method, params, client, signal } = ask;
    const id = nextMessageId();
    const logLevel = params._meta !== undefined && META.logLevel in (params._meta as JsonObject);
    const meta = { ...(params._meta as JsonObject | undefined), ...modernMeta(asModern(client), this.to.self) };
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } });
    const named = NAMED_BY[method];
    const name = named === undefined ? undefined : params[named];
    const headers = {
      ...modernHeaders(method),
      ...(typeof name === 'string' ? { 'mcp-name': encodeHeaderValue(name) } : {}),
      ...ask.headers,
    };
    const fetched = await postMessage(this.to, { body, headers, signal, onSent: ask.onSent });
    const options = this.answerOptions(ask, id);
    if (fetched.response.ok) return new HttpAnswer(fetched, { ...options, era: 'modern', keepsLogs: logLevel });
    const refusal = await readRefusal(fetched, options);
    if (OTHER_ERA.has(refusal.status) && !isAnswered(refusal)) return refusal;
    return this.refused(refusal, { ...options, era: 'modern' });
  }

  private async askLegacy(ask: UpstreamAsk, isAgain = false): Promise<HttpAnswer | Refusal> {
    const { method, params, client, caller, signal, onSent } = ask;
    const session = await this.sessions.of(caller, client);
    if (method !== SET_LEVEL) await this.setLevel(ask, session);
    const id = nextMessageId();
    const { text: body, token } = legacyBody(id, method, params);
    const cancel = () =>
      this.tell({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }, session);
    const posted = postMessage(this.to, { body, headers: sessionHeaders(session), signal, onSent });
    const fetched = await posted.catch((cause: unknown) => {
      // These servers take a closed connection for no more than that.
      if (mayRunOn(cause)) cancel().catch(() => {});
      throw cause;
    });
    const reply = (message: JsonObject) => this.tell(message, session);
    const replyTo = `${session.version} ${session.id ?? ''}`;
    const options = { ...this.answerOptions(ask, id), era: 'legacy', token, cancel, reply, replyTo } as const;
    if (fetched.response.ok) return new HttpAnswer(fetched, options);
    const refusal = await readRefusal(fetched, options);
    if (refusal.status === 404 && session.id !== undefined && !isAgain) {
      onSent?.(false);
      await this.sessions.forget(caller, session);
      return this.askLegacy(ask, true);
    }
    if (hasModernCode(refusal.error)) return refusal;
    return this.refused(refusal, options);
  }

  /** Sets the client's log level before its next call, once for each level and session. */
  private async setLevel(ask: UpstreamAsk, session: LegacySession): Promise<void> {
    const level = (ask.params._meta as JsonObject | undefined)?.[META.logLevel];
    if (level === undefined || session.logLevel === level || !('logging' in session.capabilities)) return;
    session.logLevel = level;
    const answer = await this.askLegacy({ ...ask, method: SET_LEVEL, params: { level } }).catch(() => undefined);
    if (!(answer instanceof HttpAnswer)) return;
    try {
      while ((await answer.next()) !== undefined);
    } catch {
      // The server keeps its level.
    } finally {
      answer.close();
    }
  }

  private answerOptions({ signal, maxBytes, room }: UpstreamAsk, id: string) {
    const { alias, timeoutMs } = this.to.server;
    return { alias, id, timeoutMs, maxBytes, room, signal };
  }

  /** A JSON-RPC error is an answer, with any HTTP status. */
  private refused(refusal: Refusal, options: ConstructorParameters<typeof HttpAnswer>[1]): HttpAnswer {
    const { error, failure, status } = refusal;
    const isOurs = status === 401 || status === 403 || status === 429;
    const isFailure = status >= 500 && !NOT_RUN.has(error?.code ?? 0);
    if (error === undefined || isOurs || isFailure) throw failure;
    const text = JSON.stringify({ jsonrpc: '2.0', id: options.id, error });
    const response = new Response(null, { headers: { 'content-type': 'application/json' } });
    return new HttpAnswer({ response, bytes: new TextEncoder().encode(text) }, options);
  }

  /** Sends something that has no answer. */
  private async tell(message: JsonObject, session: LegacySession, signal?: AbortSignal): Promise<void> {
    const { alias, timeoutMs } = this.to.server;
    const posting = { body: JSON.stringify(message), headers: sessionHeaders(session) };
    const fetched = await postMessage(this.to, { ...posting, signal: signal ?? AbortSignal.timeout(timeoutMs) });
    void fetched.response.body?.cancel().catch(() => {});
    if (!fetched.response.ok)
      throw upstreamFailure('rejected', alias, `refused a message (${fetched.response.status}).`);
  }

  private endAtServer(session: LegacySession): void {
    if (session.id !== undefined) deleteSession(this.to, sessionHeaders(session));
  }
}

/** Sent, but nobody waits for the answer any more. */
const mayRunOn = (cause: unknown): boolean =>
  cause instanceof GatewayError && (cause.kind === 'client_closed' || cause.kind === 'upstream_timeout');

/** A refusal that a server of the newest revision gives to a request that it understood. */
const isAnswered = ({ error }: Refusal): boolean =>
  error !== undefined && (hasModernCode(error) || error.code === -32602 || error.code === -32601);

/** Servers may question a client with sessions only during a call. */
const asModern = (client: UpstreamAsk['client']) =>
  client.era === 'modern' ? client : { capabilities: {}, ...(client.info === undefined ? {} : { info: client.info }) };

/** The request in an older revision, with a token for its progress that no other caller of the session has. */
function legacyBody(id: string, method: string, params: JsonObject) {
  const { _meta: meta, inputResponses, requestState, ...rest } = params;
  if (inputResponses !== undefined || requestState !== undefined) {
    throw new GatewayError('invalid_request', 'This server asks for no input, so "inputResponses" isn\'t allowed.', {
      param: 'inputResponses',
    });
  }
  const { [META.logLevel]: _level, ...said } = (meta ?? {}) as JsonObject;
  const token = said.progressToken;
  const own = meta === undefined ? {} : { _meta: { ...said, ...(token === undefined ? {} : { progressToken: id }) } };
  const text = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...rest, ...own } });
  return { text, token: typeof token === 'string' || typeof token === 'number' ? token : undefined };
}
