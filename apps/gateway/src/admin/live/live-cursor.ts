/** Position of a reader: a number for each topic, or the digest of the last value shown. */
export type LiveCursor = Readonly<Record<string, string>>;

const CURSOR = /^[\w=&.-]{0,400}$/;

/** Text without line ends, as the `id` of an event must be. */
export const encodeLiveCursor = (cursor: LiveCursor): string => new URLSearchParams(cursor).toString();

/** An invalid cursor counts as none. */
export function decodeLiveCursor(text: string | undefined): LiveCursor {
  return text !== undefined && CURSOR.test(text) ? Object.fromEntries(new URLSearchParams(text)) : {};
}

/** A number of a cursor; undefined without one. */
export function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
