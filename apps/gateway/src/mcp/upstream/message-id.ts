const PREFIX = `llm0-${crypto.randomUUID().slice(0, 8)}-`;
let count = 0;

/** A unique id of one message, which can't occur in other text by chance. */
export const nextMessageId = (): string => `${PREFIX}${(count++).toString(36)}`;

/**
 * Replaces the server's message id with the client's; undefined if the text contains it twice or in another spelling,
 * because the server must not choose the id.
 */
export function withClientId(text: string, own: string, id: string | number): string | undefined {
  const marked = `"${own}"`;
  const at = text.indexOf(marked);
  if (at === -1 || text.indexOf(marked, at + 1) !== -1) return undefined;
  return text.slice(0, at) + JSON.stringify(id) + text.slice(at + marked.length);
}
