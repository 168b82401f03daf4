/**
 * The parts of the generateContent format that the gateway reads.
 * Source: https://ai.google.dev/api/generate-content
 */

export const PROVIDER = 'gemini';

/** Format of this vendor's signed reasoning in `reasoning_details`. */
export const REASONING_FORMAT = 'google-gemini-v1';

/** Fields of the vendor's own that callers may add to a request of another format → their name on the wire. */
export const NATIVE_FIELDS: ReadonlyMap<string, string> = new Map([
  ['safetySettings', 'safetySettings'],
  ['safety_settings', 'safetySettings'],
]);

/** Other fields of a candidate, kept for clients that know them. */
export const CANDIDATE_FIELDS = ['groundingMetadata', 'citationMetadata', 'urlContextMetadata'] as const;

export const TOOL_NAME_RULE = {
  valid: /^[A-Za-z_][\w.:-]*$/,
  forbidden: /[^\w.:-]/g,
  firstCharacter: /^[A-Za-z_]/,
  maxLength: 64,
} as const;
