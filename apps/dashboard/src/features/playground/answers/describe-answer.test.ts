import { expect, test } from 'bun:test';
import type { Run } from '../playground-store';
import { describeAnswer } from './describe-answer';

const head = (model: string, headers: Record<string, string>, costUsd: number | null = null) =>
  describeAnswer({ model, headers: Object.entries(headers), outcome: { costUsd } as Run['outcome'] });

test('an answer is headed by the model that gave it, with its price and the reason', () => {
  const standIn = {
    'x-model': 'gpt-4o',
    'x-provider': 'openai',
    'x-failover': 'true',
    'x-original-provider': 'anthropic',
  };
  expect(head('claude-sonnet-4-6', standIn, 0.0123)).toEqual({
    model: 'gpt-4o',
    reason: 'from openai, because anthropic failed or was skipped, requested: claude-sonnet-4-6',
    price: '$0.0123',
  });
  const other = { ...standIn, 'x-model': 'claude-sonnet-4-6', 'x-provider': 'bedrock' };
  expect(head('claude-sonnet-4-6', other).reason).toBe('from bedrock, because anthropic failed or was skipped');
  expect(head('fast', { 'x-model': 'gpt-4o', 'x-provider': 'openai' }).reason).toBe(
    'from openai, chosen by the alias, requested: fast',
  );
  expect(head('gpt-4o', { 'x-model': 'm', 'x-provider': 'p', 'x-downgraded-from': 'gpt-4o' }).reason).toBe(
    'from p, because the budget switched to a cheaper model, requested: gpt-4o',
  );
});

test('the requested model needs no reason, with its provider or before the answer starts', () => {
  const own = { 'x-model': 'gpt-4o', 'x-provider': 'openai' };
  expect([head('gpt-4o', own), head('openai/gpt-4o', own), head('gpt-4o', {})]).toEqual([
    { model: 'gpt-4o', reason: null, price: null },
    { model: 'gpt-4o', reason: null, price: null },
    { model: 'gpt-4o', reason: null, price: null },
  ]);
});
