import { isObject, type JsonObject } from '@llm0/core/chat/json';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { clientClosed } from '@llm0/core/errors/gateway-error';
import type { AnswerRoom } from '@llm0/providers/provider-call';
import { upstreamFailure } from '@llm0/providers/transport/upstream-failure';
import type { UpstreamAnswer, UpstreamPart } from '../upstream/upstream';
import { type RpcId, type RpcMessage, rpcNotification } from '../wire/json-rpc';
import type { Era } from '../wire/protocol';

export interface StdioAnswerOptions {
  readonly alias: string;
  readonly id: string;
  readonly era: Era;
  /** The caller's progress token; the server was given `id` instead. */
  readonly token?: RpcId;
  /** Between two messages; in all sixty times as long. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly room?: AnswerRoom | undefined;
  readonly signal: AbortSignal;
  /** The caller stopped waiting; `isAnswered`: the server is done. */
  readonly onClose: (isAnswered: boolean) => void;
}

const MAX_TIMEOUTS = 60;

/** Answer of a stdio server. */
export class StdioAnswer implements UpstreamAnswer {
  readonly isStream = true;
  receivedBytes = 0;
  private readonly parts: UpstreamPart[] = [];
  private failure: unknown;
  private isAnswered = false;
  private isClosed = false;
  private wake: (() => void) | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly startedMs = performance.now();
  private readonly onAbort = () => this.fail(clientClosed());

  constructor(private readonly options: StdioAnswerOptions) {
    options.signal.addEventListener('abort', this.onAbort, { once: true });
    this.extend();
  }

  get id(): string {
    return this.options.id;
  }

  get era(): Era {
    return this.options.era;
  }

  async next(): Promise<UpstreamPart | undefined> {
    for (;;) {
      const part = this.parts.shift();
      if (part !== undefined) {
        await this.options.room?.takeAnswer(part.kind === 'request' ? 0 : part.text.length);
        return part;
      }
      if (this.failure !== undefined) throw this.failure;
      if (this.isAnswered || this.isClosed) return undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  async reply(): Promise<void> {}

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    clearTimeout(this.timer);
    this.options.signal.removeEventListener('abort', this.onAbort);
    this.options.onClose(this.isAnswered);
    this.wake?.();
  }

  /** A message that belongs to it. */
  take(message: Exclude<RpcMessage, { kind: 'request' }>, text: string): void {
    if (this.isAnswered || this.isClosed || this.failure !== undefined) return;
    this.receivedBytes += text.length;
    const { alias, maxBytes, token } = this.options;
    if (this.receivedBytes > maxBytes) {
      this.fail(upstreamFailure('malformed', alias, 'sent a message that is too large.'));
      return;
    }
    if (message.kind === 'response') {
      this.isAnswered = true;
      clearTimeout(this.timer);
      this.add({ kind: 'response', response: message.response, text });
      return;
    }
    this.extend();
    if (token === undefined) return;
    const params: JsonObject = { ...message.notification.params, progressToken: token };
    const notification = { method: message.notification.method, params };
    this.add({
      kind: 'notification',
      notification,
      text: JSON.stringify(rpcNotification(notification.method, params)),
    });
  }

  fail(error: GatewayError): void {
    if (this.isAnswered) return;
    this.failure ??= error;
    clearTimeout(this.timer);
    this.wake?.();
  }

  private add(part: UpstreamPart): void {
    this.parts.push(part);
    this.wake?.();
  }

  private extend(): void {
    const { timeoutMs, alias } = this.options;
    const leftMs = this.startedMs + MAX_TIMEOUTS * timeoutMs - performance.now();
    clearTimeout(this.timer);
    const waitMs = Math.max(0, Math.min(timeoutMs, leftMs));
    this.timer = setTimeout(
      () => this.fail(upstreamFailure('timeout', alias, `did not answer within ${timeoutMs} ms.`)),
      waitMs,
    );
  }
}

/** Request of a progress notification; undefined for other news. */
export function progressOf({
  method,
  params,
}: {
  readonly method: string;
  readonly params: JsonObject;
}): string | undefined {
  if (method !== 'notifications/progress' || !isObject(params)) return undefined;
  return typeof params.progressToken === 'string' ? params.progressToken : undefined;
}
