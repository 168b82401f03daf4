import { Validator } from '@cfworker/json-schema';

/** Result of checking a JSON answer, with the places where it fails. */
export interface AnswerCheck {
  readonly isValid: boolean;
  /** `/age: must be …`, the innermost first; at most five. */
  readonly faults: readonly string[];
}

const MOST_FAULTS = 5;

/** Validates against a JSON Schema (draft 2020-12) without running code from it. */
export function checkAnswer(text: string, schema: Record<string, unknown>): AnswerCheck {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { isValid: false, faults: ['The answer is not JSON.'] };
  }
  try {
    const { valid, errors } = new Validator(schema, '2020-12', false).validate(value);
    // A container's error only repeats that something inside fails.
    const inner = errors.filter(({ instanceLocation: at, keyword }) => !isOuter(keyword) || at === '');
    const own = inner.filter(({ keyword }) => !isOuter(keyword));
    const faults = (own.length > 0 ? own : errors).map(
      ({ instanceLocation: at, error }) => `${at === '#' ? 'The answer' : at.slice(1)}: ${error}`,
    );
    return { isValid: valid, faults: [...new Set(faults)].slice(0, MOST_FAULTS) };
  } catch (cause) {
    return { isValid: false, faults: [`The schema cannot be used: ${cause instanceof Error ? cause.message : cause}`] };
  }
}

const OUTER = new Set(['properties', 'items', 'prefixItems', 'allOf', '$ref', 'additionalProperties', 'false']);
const isOuter = (keyword: string): boolean => OUTER.has(keyword) && keyword !== 'false';
