import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { collectEvents } from '@llm0/core/chat/testing/collect-events';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { ANSWERS } from '@llm0/providers/openai/__fixtures__/answers';
import { openai } from '@llm0/providers/openai/index';
import { ANY_REQUEST } from '@llm0/providers/provider.cases';
import type { ResponseSummary } from '../dialect';
import { openaiChat } from './index';

const SUMMARY: ResponseSummary = {
  requestId: 'req-1',
  provider: 'openai',
  model: 'gpt-test',
  cache: 'exact',
  usage: { ...ZERO_USAGE, inputTokens: 9, outputTokens: 3, cacheWriteTokens: 2 },
  costNanoUsd: 0,
  latencyMs: 1.5,
  createdSeconds: 1_760_000_000,
};

const parse = (text: string) => JSON.parse(text) as JsonObject;

describe('encoding a plain answer', () => {
  for (const fixture of ANSWERS) {
    const body = fixture.plain;
    if (body === undefined) continue;
    test(`${fixture.name}: the upstream's own body keeps every field and is not touched`, () => {
      const before = structuredClone(body);
      const choices = (body.choices as JsonObject[]).map((choice) => ({
        ...choice,
        native_finish_reason: choice.finish_reason ?? null,
      }));
      expect(parse(openaiChat.encodeResponse(fixture.expected, SUMMARY, body))).toEqual({
        ...body,
        choices,
        latency_ms: 1.5,
        cost_usd: 0,
      } as JsonObject);
      expect(body).toEqual(before);
    });

    test(`${fixture.name}: built from our types it decodes into the same answer`, () => {
      const text = openaiChat.encodeResponse(fixture.expected, SUMMARY);
      const back = collectEvents(openai.decodeResponse(new TextEncoder().encode(text), ANY_REQUEST).events);
      expect(back.choices).toEqual([...fixture.expected.choices]);
      expect(parse(text).usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 });
    });
  }

  test('fills in fields that a sparse upstream omits', () => {
    const body: JsonObject = { choices: [{ message: { content: 'Hi' }, finish_reason: 'eos' }] };
    const response = collectEvents(
      openai.decodeResponse(new TextEncoder().encode(JSON.stringify(body)), ANY_REQUEST).events,
    );
    expect(parse(openaiChat.encodeResponse(response, SUMMARY, body))).toMatchObject({
      id: 'chatcmpl-req-1',
      object: 'chat.completion',
      created: 1_760_000_000,
      model: 'gpt-test',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi' },
          finish_reason: 'stop',
          native_finish_reason: 'eos',
        },
      ],
      usage: { prompt_tokens: 11 },
    });
  });

  test.each([
    ['only calls', { toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }] }, null],
    ['only a refusal', { refusal: 'no' }, null],
    ['nothing at all', {}, ''],
  ])('content of an answer with %s', (_name, parts, content) => {
    const response = { choices: [{ index: 0, text: null, finishReason: 'stop' as const, ...parts }] };
    const choices = parse(openaiChat.encodeResponse(response, SUMMARY)).choices;
    expect(choices).toMatchObject([{ message: { role: 'assistant', content } }]);
  });
});

describe('encoding an error', () => {
  test('the envelope names the field, the wait and the attempts', () => {
    const error = new GatewayError('rate_limit_exceeded', 'Wait.', {
      param: 'key',
      retryAfterMs: 1200,
      attempts: [{ provider: 'openai', model: 'm', failure: 'rate_limited', status: 429, latencyMs: 5 }],
    });
    expect(parse(openaiChat.encodeError(error))).toEqual({
      error: {
        message: 'Wait.',
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
        param: 'key',
        retry_after: 2,
        attempts: [{ provider: 'openai', model: 'm', failure: 'rate_limited', status: 429, latency_ms: 5 }],
      },
    });
  });
});
