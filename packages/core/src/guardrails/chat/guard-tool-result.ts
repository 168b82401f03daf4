import { isObject, type JsonObject } from '../../chat/json';
import { AnswerRefused, blockedBy } from '../refusals';
import type { RequestGuard } from '../request-guard';
import { GuardedTexts } from './guard-texts';
import { replaceTexts } from './string-tree';

/** What a server says of a tool's call, a prompt or a resource: its texts are read one behind the other. The very same where it is clean. */
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
