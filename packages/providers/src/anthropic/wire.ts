/**
 * The parts of the Messages format that the gateway reads.
 * Source: https://platform.claude.com/docs/en/api/messages
 */

export const PROVIDER = 'anthropic';
export const WIRE_FORMAT = 'anthropic-messages';

/** Beta features of a request, which may change its answer. */
export const BETA_HEADER = 'anthropic-beta';

/** Fields without effect on input; the vendor refuses them for token counts. */
export const UNCOUNTED_FIELDS: readonly string[] = [
  'max_tokens',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'service_tier',
];

/** Format of this vendor's signed reasoning in `reasoning_details`. */
export const REASONING_FORMAT = 'anthropic-claude-v1';

/** Top-level fields of an answer that our own types carry. */
export const ANSWER_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'model',
  'content',
  'stop_reason',
  'stop_sequence',
  'stop_details',
  'usage',
]);

/** Fields of the vendor's own that callers may add to a request of another format. */
export const NATIVE_FIELDS: ReadonlySet<string> = new Set([
  'cache_control',
  'container',
  'context_management',
  'inference_geo',
  'mcp_servers',
  'output_config',
  'speed',
]);

export const TOOL_NAME_RULE = { valid: /^[\w-]+$/, forbidden: /[^\w-]/g, maxLength: 128 } as const;
export const CALL_ID_RULE = { valid: /^[\w-]+$/, forbidden: /[^\w-]/g, maxLength: 256 } as const;
