/**
 * The parts of the Chat API (v2) that the gateway reads.
 * Source: https://docs.cohere.com/reference/chat
 */

export const PROVIDER = 'cohere';

/** Fields of the vendor's own that callers may add to a request of another format. */
export const NATIVE_FIELDS: ReadonlySet<string> = new Set([
  ...['documents', 'citation_options', 'safety_mode', 'strict_tools', 'priority'],
]);

export const TOOL_NAME_RULE = {
  valid: /^[A-Za-z_]\w*$/,
  forbidden: /\W/g,
  firstCharacter: /^[A-Za-z_]/,
  maxLength: 64,
} as const;
