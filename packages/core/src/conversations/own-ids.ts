const ANSWER_ID = /^resp_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;
/** Marks ids made here; vendors' ids never look like this and vendors don't know them. */
const ITEM_MARK = '_llm0';

/** Id of a stored answer; `requestId` is a UUID. */
export function answerId(requestId: string): string {
  return `resp_${requestId.replaceAll('-', '')}`;
}

/** Request of an answer's id; undefined for foreign ids. */
export function requestIdOf(id: string): string | undefined {
  const match = ANSWER_ID.exec(id);
  return match === null ? undefined : match.slice(1).join('-');
}

/** Id of an item: `kind` is the format's prefix for its type, `position` counts within the answer. */
export function ownItemId(kind: string, requestId: string, position: string | number): string {
  return `${kind}${ITEM_MARK}${requestId.replaceAll('-', '')}${String(position).padStart(2, '0')}`;
}

/** True for ids of items that this gateway made. */
export function isOwnItemId(id: unknown): boolean {
  return typeof id === 'string' && id.includes(ITEM_MARK);
}
