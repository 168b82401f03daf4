const PREFIX = `llm0-${crypto.randomUUID().slice(0, 8)}-`;
let count = 0;

/** An id that this process gives to one message only, and that stands in no other text by chance. */
export const nextMessageId = (): string => `${PREFIX}${(count++).toString(36)}`;

/**
 * The message with the client's own id instead of the one that its server was given; undefined where that one stands there
 * more than once, or is written in another way: a server that does so must not choose which of them is the id.
 */
export function withClientId(text: string, own: string, id: string | number): string | undefined {
  const marked = `"${own}"`;
  const at = text.indexOf(marked);
  if (at === -1 || text.indexOf(marked, at + 1) !== -1) return undefined;
  return text.slice(0, at) + JSON.stringify(id) + text.slice(at + marked.length);
}
