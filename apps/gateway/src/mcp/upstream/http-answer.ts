import { isObject, type JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { FetchedAnswer } from '@llm0/providers/transport/fetch-upstream';
import { upstreamFailure } from '@llm0/providers/transport/upstream-failure';
import { RPC, type RpcId, type RpcRequest, type RpcResponse, rpcReply } from '../wire/json-rpc';
import type { Era } from '../wire/protocol';
import { type AnswerOptions, AnswerReader, type ReadMessage } from './read-answer';
import type { UpstreamAnswer, UpstreamPart } from './upstream';

export interface HttpAnswerOptions extends AnswerOptions {
  readonly era: Era;
  /** The caller's progress token, where the server was given another. */
  readonly token?: RpcId;
  /** Set if log messages were requested; absent if always allowed. */
  readonly keepsLogs?: boolean;
  readonly cancel?: () => Promise<void>;
  readonly reply?: (message: JsonObject) => Promise<void>;
  readonly replyTo?: string;
}

/** Messages that have nothing to do with the request are not for its caller. */
const FORWARDED: ReadonlySet<string> = new Set(['notifications/progress', 'notifications/message']);

/** One server's answer by HTTP: JSON, or a stream of messages. */
export class HttpAnswer implements UpstreamAnswer {
  private readonly reader: AnswerReader;
  private isAnswered = false;
  private isClosed = false;

  constructor(
    fetched: FetchedAnswer,
    private readonly options: HttpAnswerOptions,
  ) {
    this.reader = new AnswerReader(fetched, options);
  }

  get era(): Era {
    return this.options.era;
  }

  get id(): string {
    return this.options.id;
  }

  get isStream(): boolean {
    return this.reader.isStream;
  }

  get receivedBytes(): number {
    return this.reader.receivedBytes;
  }

  get replyTo(): string | undefined {
    return this.options.replyTo;
  }

  async next(): Promise<UpstreamPart | undefined> {
    if (this.isAnswered) return undefined;
    for (;;) {
      const read = await this.reader.next();
      if (read === undefined) {
        throw upstreamFailure('truncated', this.options.alias, 'ended its answer without a result.');
      }
      const part = await this.take(read);
      if (part !== undefined) return part;
    }
  }

  async reply(id: RpcId, answer: Pick<RpcResponse, 'result' | 'error'>): Promise<void> {
    await this.options.reply?.(rpcReply(id, answer));
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.reader.close();
    if (!this.isAnswered) this.options.cancel?.().catch(() => {});
  }

  private async take({ message, text }: ReadMessage): Promise<UpstreamPart | undefined> {
    if (message.kind === 'response') {
      this.isAnswered = true;
      this.checkId(message.response);
      return { kind: 'response', response: message.response, text };
    }
    if (message.kind === 'request') return this.takeRequest(message.request);
    const { method, params } = message.notification;
    if (!FORWARDED.has(method)) return undefined;
    if (method === 'notifications/message' && this.options.keepsLogs === false) return undefined;
    if (method !== 'notifications/progress' || this.options.token === undefined) {
      return { kind: 'notification', notification: message.notification, text };
    }
    const notification = { method, params: { ...params, progressToken: this.options.token } };
    return { kind: 'notification', notification, text: JSON.stringify({ jsonrpc: '2.0', ...notification }) };
  }

  /** Older revisions ask the client mid-call; the newest has no such thing. */
  private async takeRequest(request: RpcRequest): Promise<UpstreamPart | undefined> {
    if (this.options.era === 'modern') {
      throw upstreamFailure(
        'malformed',
        this.options.alias,
        `sent the request ${request.method.slice(0, 60)} within an answer.`,
      );
    }
    if (request.method !== 'ping') return { kind: 'request', request };
    await this.reply(request.id, { result: {} }).catch(() => {});
    return undefined;
  }

  private checkId({ id, error, result }: RpcResponse): void {
    if (id === this.options.id || (id === null && error !== undefined)) return;
    const what = isObject(result) ? 'a result' : 'an error';
    throw new GatewayError('upstream_error', `${this.options.alias} sent ${what} of another request.`, {
      failure: 'malformed',
    });
  }
}

/** Error for a server that requests an unsupported capability. */
export const notForThisClient = (method: string): Pick<RpcResponse, 'error'> => ({
  error: { code: RPC.methodNotFound, message: `The client of this call cannot answer ${method.slice(0, 60)}.` },
});
