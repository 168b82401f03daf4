import { isObject, type JsonObject, type JsonValue } from '../../chat/json';
import { GatewayError } from '../../errors/gateway-error';
import { AnswerRefused } from '../refusals';
import type { RequestGuard } from '../request-guard';
import { GuardedTexts } from './guard-texts';

/** Names that identify the item: a changed one would hide it. */
const NAMES = ['name', 'uri', 'uriTemplate'] as const;
/** Texts for the model in an item, and at any depth of its schemas. */
const SAID: ReadonlySet<string> = new Set(['title', 'description']);

/**
 * A tool, prompt or resource as a server lists it: its titles and descriptions by all rules of tools' results, the rest by those
 * that search. undefined where a rule does not let it pass, or not under its own name.
 */
export async function guardListed(guard: RequestGuard, item: JsonObject): Promise<JsonObject | undefined> {
  const texts = new GuardedTexts(guard, 'output');
  try {
    await texts.texts(saidIn(item), 'tool_results');
    const judged = await texts.value(item, 'tool_results');
    return NAMES.every((name) => judged[name] === item[name]) ? judged : undefined;
  } catch (cause) {
    const isRefusal = cause instanceof GatewayError && cause.kind === 'guardrail_blocked';
    if (isRefusal || cause instanceof AnswerRefused) return undefined;
    throw cause;
  }
}

function saidIn(value: JsonValue, found: string[] = []): readonly string[] {
  if (Array.isArray(value)) for (const one of value) saidIn(one, found);
  else if (isObject(value)) {
    for (const [name, one] of Object.entries(value)) {
      if (typeof one !== 'string') saidIn(one, found);
      else if (SAID.has(name) && one !== '') found.push(one);
    }
  }
  return found;
}
