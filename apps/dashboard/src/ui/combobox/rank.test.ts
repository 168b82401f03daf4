import { expect, test } from 'bun:test';
import { rank } from './rank';

const found = (typed: string, names: readonly string[]) => rank(names, typed, (name) => name);

test('ranks prefixes first, then words, parts and letters in order', () => {
  const names = ['azure/gpt-4o', 'not-a-gpt4o', 'gpt-4o-mini', 'gpt-4o', 'claude'];
  expect(found('gpt-4o', names).slice(0, 3)).toEqual(['gpt-4o', 'gpt-4o-mini', 'azure/gpt-4o']);
  expect(found('g4om', names)).toContain('gpt-4o-mini');
  expect(found('mini gpt', names)).toEqual(['gpt-4o-mini']);
  expect(found('', names)).toEqual(names);
  expect(found('xyz', names)).toEqual([]);
  expect(found('CLAUDE', names)).toEqual(['claude']);
});
