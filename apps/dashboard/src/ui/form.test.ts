import { expect, test } from 'bun:test';
import { faultOf } from './form';

const control = (validity: Partial<ValidityState>, inputMode = '') => ({
  validity: { valid: false, ...validity } as ValidityState,
  inputMode,
});

test('what the browser would say in a bubble is said at the field', () => {
  expect(faultOf(control({ valueMissing: true }))).toBe('is required');
  expect(faultOf(control({ badInput: true }))).toBe('is incomplete');
  expect(faultOf(control({ patternMismatch: true }, 'decimal'))).toBe('must be a number');
  expect(faultOf(control({ patternMismatch: true }))).toBe('has another format');
  expect(faultOf(control({ valid: true }))).toBeNull();
});
