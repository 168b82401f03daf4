import { describe, expect, test } from 'bun:test';
import { compileRule } from '../compile-guardrails';
import type { GuardrailCheck } from '../policy';
import { TextWindow } from '../text-window';

const windowOf = (check: GuardrailCheck) =>
  new TextWindow(
    compileRule({ name: 'r', on: 'both', check, action: 'redact', onError: 'block' }, {}, false).finders,
    ({ kind }) => `[${kind}]`,
  );
const PII: GuardrailCheck = { type: 'pii' };

/** What becomes of a text, the same wherever it is cut. */
function judged(check: GuardrailCheck, text: string): string {
  const whole = windowOf(check).whole(text);
  for (let at = 1; at < text.length; at++) {
    const window = windowOf(check);
    const cut = window.push(text.slice(0, at)) + window.push(text.slice(at)) + window.flush();
    expect([at, cut]).toEqual([at, whole]);
  }
  return whole;
}

describe('what is written around numbers', () => {
  test('a fraction is not their next digit', () => {
    const text = 'x 550e8400-e29b-41d4-a716-446655440000½ y';
    expect(judged(PII, text)).toBe(text);
  });
});
