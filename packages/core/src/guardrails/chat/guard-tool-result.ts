import { isObject, type JsonObject } from '../../chat/json';
import { AnswerRefused, blockedBy } from '../refusals';
import type { RequestGuard } from '../request-guard';
import { GuardedTexts } from './guard-texts';
import { replaceTexts } from './string-tree';

/**
 * Judges a server's result of a tool call, prompt or resource, with adjacent texts joined. Returns the same object if
 * clean.
 */
export async function guardToolResult(guard: RequestGuard, result: JsonObject): Promise<JsonObject> {
  const texts = new GuardedTexts(guard, 'output');
  try {
    for (const list of [result.content, result.contents]) {
      const said = Array.isArray(list) ? list.map((one) => (isObject(one) ? textOf(one) : undefined)) : [];
      await texts.texts(
        said.filter((text) => text !== undefined),
        'tool_results',
      );
    }
    const judged = await texts.value(result, 'tool_results');
    return guard.hasPseudonyms ? replaceTexts(judged, (text) => guard.restore(text)) : judged;
  } catch (cause) {
    // A tool is not run a second time.
    throw cause instanceof AnswerRefused ? blockedBy(cause.rule, 'output') : cause;
  }
}

function textOf({ text, resource }: JsonObject): string | undefined {
  if (typeof text === 'string') return text;
  return isObject(resource) && typeof resource.text === 'string' ? resource.text : undefined;
}
