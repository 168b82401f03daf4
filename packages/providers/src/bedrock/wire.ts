/**
 * The parts of the Converse format that the gateway reads.
 * Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */

export const PROVIDER = 'bedrock';

/** Format of signed reasoning from this vendor in `reasoning_details`. */
export const REASONING_FORMAT = 'bedrock-converse-v1';

/** Signatures that this vendor's models accept: their own, and those of the same models elsewhere. */
export const ACCEPTED_REASONING: ReadonlySet<string> = new Set([REASONING_FORMAT, 'anthropic-claude-v1']);

/** Top-level fields of an answer that are handed on as they are. */
export const EXTRA_ANSWER_FIELDS = ['additionalModelResponseFields', 'trace', 'performanceConfig'] as const;

/** Fields of the vendor's own that callers may add to a request of another format. */
export const NATIVE_FIELDS: ReadonlySet<string> = new Set([
  'additionalModelRequestFields',
  'additionalModelResponseFieldPaths',
  'guardrailConfig',
  'performanceConfig',
  'promptVariables',
  'requestMetadata',
]);

export const TOOL_NAME_RULE = { valid: /^[\w-]+$/, forbidden: /[^\w-]/g, maxLength: 64 } as const;
export const CALL_ID_RULE = { valid: /^[\w-]+$/, forbidden: /[^\w-]/g, maxLength: 64 } as const;
