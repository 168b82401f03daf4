import { describe, expect, test } from 'bun:test';
import type { Run } from '../playground-store';
import { billOf, describeAnswer, isBilledLater, measuresOf } from './describe-answer';

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

test('both times of an answer are those of the browser: the log has others', () => {
  const measures = measuresOf({ ttftMs: 40, totalMs: 90 }, { costUsd: null, tokensIn: 3, tokensOut: null });
  expect(measures).toEqual([
    ['Cost', '–'],
    ['First token in this browser', '40.0 ms'],
    ['Total in this browser', '90.0 ms'],
    ['Tokens in', '3'],
    ['Tokens out', '–'],
  ]);
});

describe('the bill', () => {
  const none = { costUsd: null, tokensIn: null, tokensOut: null };
  const sound = { kind: 'speech', url: 'data:audio/mpeg;base64,AAAA' } as const;

  test('of sound is that of its row', () => {
    expect(isBilledLater({ costUsd: null, fault: null, media: [sound] })).toBe(true);
    expect(isBilledLater({ costUsd: 0.01, fault: null, media: [sound] })).toBe(false);
    expect(isBilledLater({ costUsd: null, fault: null, media: [] })).toBe(false);
    expect(billOf(none, null)).toEqual(none);
    expect(billOf(none, { cost_usd: 0.002, tokens_in: 10, tokens_out: 200 })).toEqual({
      ...{ costUsd: 0.002, tokensIn: 10, tokensOut: 200 },
    });
    expect(billOf(none, { cost_usd: 0.002, tokens_in: 0, tokens_out: 0 })).toEqual({ ...none, costUsd: 0.002 });
  });

  test('of an answer that tells it is its own', () => {
    const told = { costUsd: 0.01, tokensIn: 1, tokensOut: 2 };
    expect(billOf(told, { cost_usd: 0.02, tokens_in: 3, tokens_out: 4 })).toEqual(told);
  });
});
