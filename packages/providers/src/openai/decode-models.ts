import type { JsonObject } from '@llm0/core/chat/json';
import { asObject, asString } from '../translation/read-json';

/** Model names of a list: `{data: [{id}]}`, or `{models: [{name}]}` from some local servers. */
export function decodeModelNames(body: JsonObject): readonly string[] {
  const list = Array.isArray(body.data) ? body.data : Array.isArray(body.models) ? body.models : [];
  return list.flatMap((item) => {
    const entry = asObject(item);
    const name = asString(entry?.id) ?? asString(entry?.name) ?? asString(entry?.model);
    return name === undefined || name === '' ? [] : [name];
  });
}
