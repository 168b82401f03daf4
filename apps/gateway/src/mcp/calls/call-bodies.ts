import { isObject, type JsonObject } from '@llm0/core/chat/json';
import { MAX_BODY_CHARACTERS } from '@llm0/core/logs/body-log';
import type { Services } from '../../services/contract';

/** A call's bodies for LOG_BODIES. */
export interface CallBodies {
  /** The call's, as in `tool_calls`. */
  readonly id: string;
  readonly projectId: string;
  readonly createdAtMs: number;
  /** `params` as the caller sent them. */
  readonly params: JsonObject;
  /** The answer to the caller as JSON; undefined = none. */
  readonly answer?: string;
}

/** Longer answers aren't parsed: their beginning is stored as text. */
const MAX_READ_CHARACTERS = 4 * MAX_BODY_CHARACTERS;

/** Stores arguments and result under LOG_BODIES, without secrets and within limits. Never throws. */
export function recordCallBodies({ bodyLog }: Pick<Services, 'bodyLog'>, call: CallBodies): void {
  bodyLog.keep(() => {
    const { id, projectId, createdAtMs, params, answer } = call;
    const { _meta, ...rest } = params;
    const request = isObject(rest.arguments) ? rest.arguments : rest;
    return { requestId: id, projectId, createdAtMs, request, ...boundAnswer(answer) };
  });
}

function boundAnswer(answer: string | undefined): { readonly response: string | undefined; readonly cut?: number } {
  if (answer === undefined) return { response: undefined };
  if (answer.length > MAX_READ_CHARACTERS) {
    const kept = answer.slice(0, MAX_READ_CHARACTERS).toWellFormed();
    return { response: JSON.stringify(kept), cut: answer.length - kept.length };
  }
  const { result, error } = JSON.parse(answer) as JsonObject;
  return { response: JSON.stringify(result ?? { error: error ?? null }) };
}
