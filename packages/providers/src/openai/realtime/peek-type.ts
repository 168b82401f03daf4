import type { JsonObject } from '@llm0/core/chat/json';
import { isObject, parseJson } from '@llm0/core/chat/json';

const TYPE_FIRST = '{"type":"';
const ID_FIRST = '{"event_id":"';
const TYPE_NEXT = '","type":"';

/**
 * Type of an event whose frame begins with it, or with its id, as the vendor and its clients write them. Else undefined:
 * only parsing tells.
 */
export function peekType(frame: string): string | undefined {
  let start = TYPE_FIRST.length;
  if (!frame.startsWith(TYPE_FIRST)) {
    const idEnd = frame.startsWith(ID_FIRST) ? frame.indexOf('"', ID_FIRST.length) : -1;
    if (idEnd === -1 || !frame.startsWith(TYPE_NEXT, idEnd)) return undefined;
    start = idEnd + TYPE_NEXT.length;
  }
  const end = frame.indexOf('"', start);
  return end === -1 ? undefined : frame.slice(start, end);
}

/** The event; an empty object for anything else. */
export function parseEvent(frame: string): JsonObject {
  const event = parseJson(frame);
  return isObject(event) ? event : {};
}
