// A failed check follows its rule's `on_error`; unless that is `allow`, the call is refused before sending.
import { isObject, type JsonObject, type JsonValue, parseJson } from '@llm0/core/chat/json';
import { hasUnjudgedNames } from '@llm0/core/guardrails/chat/guard-native';
import { GuardedTexts } from '@llm0/core/guardrails/chat/guard-texts';
import { guardToolResult } from '@llm0/core/guardrails/chat/guard-tool-result';
import { chosenGuardrails } from '@llm0/core/guardrails/guardrails';
import { RequestGuard } from '@llm0/core/guardrails/request-guard';
import type { Principal } from '@llm0/core/keys/api-key';
import { createGuard } from '../../pipeline/guard/guard-input';
import type { RequestContext } from '../../pipeline/request/open-context';
import type { Services } from '../../services/contract';
import type { UpstreamAnswer, UpstreamAsk, UpstreamPart } from '../upstream/upstream';
import type { RpcResponse } from '../wire/json-rpc';
import type { CallAdmission, CallBooking } from './call-booking';

type Ask = Omit<UpstreamAsk, 'maxBytes'>;

/** A request to a server, and the way of its answer. */
export interface GuardedCall {
  readonly ask: Ask;
  judge(answer: UpstreamAnswer): UpstreamAnswer;
}

export interface CallToGuard {
  readonly ctx: RequestContext;
  readonly admission: CallAdmission;
  readonly booking: CallBooking;
  readonly ask: Ask;
}

/** Judges a call's arguments and result by its key's guardrails. Throws `guardrail_blocked` before sending. */
export async function guardCall(
  services: Pick<Services, 'clock'>,
  { ctx, admission, booking, ask }: CallToGuard,
): Promise<GuardedCall> {
  const { principal } = admission;
  const { guardrail } = ctx.controls;
  const guardrails =
    principal.guardrails === undefined && guardrail === undefined
      ? undefined
      : chosenGuardrails(principal.guardrails, guardrail);
  if (guardrails === undefined) return { ask, judge: (answer) => answer };
  const hasName = (name: string) => JSON.stringify(ask.params).includes(name);
  const guard = createGuard(services, { ctx, principal, guardrails, hasName });
  booking.guard = guard;
  const judged = guardrails.asksInput ? await guardAsk(guard, ask) : ask;
  const isAsked = guardrails.asksOutput || guard.hasPseudonyms;
  return { ask: judged, judge: (answer) => (isAsked ? new GuardedAnswer(guard, answer) : answer) };
}

/** Built-in parts of the gateway. */
const OWN: ReadonlySet<string> = new Set(['name', 'requestState', 'arguments']);

async function guardAsk(guard: RequestGuard, ask: Ask): Promise<Ask> {
  const texts = new GuardedTexts(guard, 'input');
  const given = ask.params.arguments;
  const args = isObject(given) ? await guardArguments(texts, given) : given;
  const rest = await texts.fields(ask.params, OWN, 'tool_arguments');
  const params = args === given ? rest : { ...rest, arguments: args as JsonValue };
  const headers = ask.headers && (await texts.value({ ...ask.headers }, 'tool_arguments'));
  return { ...ask, params, ...(headers && { headers }) };
}

/** Judges the arguments as one JSON text, so that rules see all of it. */
async function guardArguments(texts: GuardedTexts, args: JsonObject): Promise<JsonObject> {
  const text = JSON.stringify(args);
  const judged = await texts.json(text, 'tool_arguments');
  if (judged === text) return args;
  const value = parseJson(judged);
  return isObject(value) ? value : {};
}

type Reply = Pick<RpcResponse, 'result' | 'error'>;

/** A client's answer to a server's question during a call. Throws `guardrail_blocked`. */
export async function guardReply({ guardrails, key, project }: Principal, reply: Reply): Promise<Reply> {
  if (guardrails?.asksInput !== true) return reply;
  const who = { projectId: project.id, keyId: key.id, requestId: '', customerId: undefined };
  const guard = new RequestGuard(guardrails, { ...who, monotonicMs: () => performance.now() });
  const texts = new GuardedTexts(guard, 'input');
  return (await texts.value(reply as JsonObject, 'tool_arguments')) as Reply;
}

/** A server's answer whose messages are judged before delivery. */
class GuardedAnswer implements UpstreamAnswer {
  constructor(
    private readonly guard: RequestGuard,
    private readonly answer: UpstreamAnswer,
  ) {}

  get era() {
    return this.answer.era;
  }

  get id() {
    return this.answer.id;
  }

  get isStream() {
    return this.answer.isStream;
  }

  get receivedBytes() {
    return this.answer.receivedBytes;
  }

  get replyTo() {
    return this.answer.replyTo;
  }

  async next(): Promise<UpstreamPart | undefined> {
    const part = await this.answer.next();
    return part === undefined ? undefined : this.judge(part);
  }

  reply(...given: Parameters<UpstreamAnswer['reply']>): Promise<void> {
    return this.answer.reply(...given);
  }

  close(): void {
    this.answer.close();
  }

  private async mayStay(text: string, message: object): Promise<boolean> {
    return !(await hasUnjudgedNames(this.guard, text, { jsonrpc: '2.0', ...message }));
  }

  private async judge(part: UpstreamPart): Promise<UpstreamPart> {
    if (part.kind === 'request') {
      const params = part.request.params && (await guardToolResult(this.guard, part.request.params));
      return { ...part, request: { ...part.request, ...(params && { params }) } };
    }
    if (part.kind === 'notification') {
      const { params } = part.notification;
      const judged = params && (await guardToolResult(this.guard, params));
      if (judged === params && (await this.mayStay(part.text, part.notification))) return part;
      const notification = { ...part.notification, params: judged };
      return { ...part, notification, text: JSON.stringify({ jsonrpc: '2.0', ...notification }) };
    }
    const { result, error } = part.response;
    const judged = result && (await guardToolResult(this.guard, result));
    const failed = error && (await guardToolResult(this.guard, error as unknown as JsonObject));
    const isSame = judged === result && (failed as unknown) === error;
    if (isSame && (await this.mayStay(part.text, part.response))) return part;
    const response = { ...part.response, result: judged, error: failed as unknown as typeof error };
    return { ...part, response, text: JSON.stringify({ jsonrpc: '2.0', ...response }) };
  }
}
