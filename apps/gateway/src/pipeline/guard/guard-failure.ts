// A vendor's error may quote anything, so it is judged like an answer.
import { type JsonValue, parseJson } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { guardNativeAnswer, hasUnjudgedNames } from '@llm0/core/guardrails/chat/guard-native';
import { GuardedTexts } from '@llm0/core/guardrails/chat/guard-texts';
import { AnswerRefused } from '@llm0/core/guardrails/refusals';
import type { RequestGuard } from '@llm0/core/guardrails/request-guard';

/** An error goes to its row and its caller, but is judged once. */
const judged = new WeakSet<GatewayError>();

const WITHHELD = 'failed, and a guardrail of this project blocks its message.';

/** A vendor's error of the same kind, with its text judged. */
export async function guardFailure(guard: RequestGuard | undefined, error: GatewayError): Promise<GatewayError> {
  if (guard?.guardrails.asksOutput !== true || error.failure === undefined || judged.has(error)) return error;
  const texts = new GuardedTexts(guard, 'output');
  let message: string;
  let { param } = error;
  try {
    message = await texts.value(error.message);
    param = param === undefined ? undefined : await texts.value(param);
  } catch (refusal) {
    if (!isRefusal(refusal)) throw refusal;
    message = `The provider ${WITHHELD}`;
    param = undefined;
  }
  const isSame = message === error.message && param === error.param;
  const { kind, retryAfterMs, status, failure, upstreamStatus, attempts, cause } = error;
  const told = { retryAfterMs, status, failure, upstreamStatus, attempts, cause, param };
  const passed = isSame ? error : new GatewayError(kind, message, told);
  judged.add(passed);
  return passed;
}

/** Runs `work` and judges a vendor's error. */
export async function withGuardedFailure<T>(guard: RequestGuard, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof GatewayError ? await guardFailure(guard, cause) : cause;
  }
}

/** A judged native error answer; undefined if all of it is refused. */
export async function judgeNativeFailure(guard: RequestGuard, text: string): Promise<string | undefined> {
  const body = parseJson(text);
  try {
    if (body === undefined) return await new GuardedTexts(guard, 'output').value(text);
    const passed: JsonValue = await guardNativeAnswer(guard, body);
    return passed === body && !(await hasUnjudgedNames(guard, text, body)) ? text : JSON.stringify(passed);
  } catch (refusal) {
    if (!isRefusal(refusal)) throw refusal;
    return undefined;
  }
}

/** Replacement for a native error that must not be forwarded. */
export const withheldFailure = (provider: string, status: number): GatewayError =>
  new GatewayError('upstream_rejected', `${provider} ${WITHHELD}`, { status, upstreamStatus: status });

const isRefusal = (cause: unknown): boolean =>
  cause instanceof AnswerRefused || (cause instanceof GatewayError && cause.kind === 'guardrail_blocked');
