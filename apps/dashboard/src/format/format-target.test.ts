import { expect, test } from 'bun:test';
import { formatTarget, namesOfModels } from './format-target';

test('a model is named alone, and with its provider where two have it', () => {
  const openai = { provider: 'openai', model: 'gpt-4o' };
  const azure = { provider: 'azure', model: 'gpt-4o' };
  expect(formatTarget(openai)).toBe('openai/gpt-4o');
  expect(namesOfModels([openai, openai])(openai)).toBe('gpt-4o');
  expect([openai, azure].map(namesOfModels([openai, azure]))).toEqual(['openai/gpt-4o', 'azure/gpt-4o']);
});
