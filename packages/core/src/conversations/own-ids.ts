const ANSWER_ID = /^resp_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;
/** No vendor's ids look like this: what bears one was made here, and means nothing to a vendor. */
const ITEM_MARK = '_llm0';

/** The id under which an answer is kept; `requestId` is a UUID. */
export function answerId(requestId: string): string {
  return `resp_${requestId.replaceAll('-', '')}`;
}

/** The request behind an answer's id; undefined for ids of others. */
export function requestIdOf(id: string): string | undefined {
  const match = ANSWER_ID.exec(id);
  return match === null ? undefined : match.slice(1).join('-');
}

/** An item's id: `kind` is what the format's ids of its type begin with, `position` counts within the answer. */
export function ownItemId(kind: string, requestId: string, position: string | number): string {
  return `${kind}${ITEM_MARK}${requestId.replaceAll('-', '')}${String(position).padStart(2, '0')}`;
}

/** True for ids of items that this gateway made. */
export function isOwnItemId(id: unknown): boolean {
  return typeof id === 'string' && id.includes(ITEM_MARK);
}
