const PREFIX = `llm0-${crypto.randomUUID().slice(0, 8)}-`;
let count = 0;

/** An id that this process gives to one message only, and that stands in no other text by chance. */
export const nextMessageId = (): string => `${PREFIX}${(count++).toString(36)}`;

/** The message with the client's own id instead of the one that its server was given. */
export function withClientId(text: string, own: string, id: string | number): string {
  const marked = `"${own}"`;
  const at = text.indexOf(marked);
  return at === -1 ? text : text.slice(0, at) + JSON.stringify(id) + text.slice(at + marked.length);
}
