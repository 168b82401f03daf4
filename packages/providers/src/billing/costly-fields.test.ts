import { describe, expect, test } from 'bun:test';
import type { JsonObject, WireFormat } from '@llm0/core/chat/json';
import { findCostly } from './costly-fields';

const text = 'model: dear';
const chat = { model: 'm', messages: [{ role: 'user', content: text, model: 'in content' }], max_tokens: 5, n: 2 };

describe('fields that change the bill', () => {
  test.each<[WireFormat, JsonObject]>([
    ['openai-chat', { ...chat, temperature: 0, stop: ['x'], logit_bias: { '1': 2 }, metadata: { model: 'x' } }],
    ['openai-chat', { ...chat, tools: [{ type: 'function', function: { name: 'f', parameters: { model: 'x' } } }] }],
    ['openai-chat', { ...chat, modalities: ['text'], search_parameters: { mode: 'off' } }],
    ['openai-chat', { ...chat, plugins: null }],
    ['openai-completions', { model: 'm', prompt: ['model'], best_of: 2 }],
    ['openai-responses', { model: 'm', input: [{ type: 'message', model: 'x' }], background: false }],
    ['anthropic-messages', { ...chat, speed: 'standard', inference_geo: 'global' }],
    ['anthropic-messages', { ...chat, context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }],
    [
      'anthropic-messages',
      { ...chat, tools: [{ name: 'f', input_schema: { models: ['x'] } }, { type: 'bash_20250124' }] },
    ],
    ['gemini-content', { contents: [], generationConfig: { responseModalities: ['TEXT'] } }],
    ['gemini-content', { contents: [], tools: [{ functionDeclarations: [{ name: 'search' }] }] }],
    ['bedrock-converse', { messages: [], toolConfig: { tools: [{ toolSpec: { name: 'f' } }, { cachePoint: {} }] } }],
  ])('none in an ordinary request (%s %#)', (format, body) => {
    expect(findCostly(format, body)).toEqual({ uses: [], names: [] });
  });

  test.each<[WireFormat, string, JsonObject]>([
    ['openai-chat', 'route answers', { route: 'fallback' }],
    ['openai-chat', 'preset answers', { preset: 'mine' }],
    ['openai-chat', 'provider capped', { provider: { order: ['dear'] } }],
    ['openai-chat', 'plugins capped', { plugins: [{ id: 'web' }] }],
    ['openai-chat', 'web_search_options capped', { web_search_options: {} }],
    ['openai-chat', 'search_parameters capped', { search_parameters: { mode: 'auto' } }],
    ['openai-chat', 'prediction strict', { prediction: { type: 'content', content: 'x' } }],
    ['openai-chat', 'modalities strict', { modalities: ['text', 'audio'] }],
    ['openai-chat', 'tools strict', { tools: [{ type: 'web_search' }] }],
    ['openai-responses', 'background capped', { background: true }],
    ['openai-responses', 'prompt answers', { prompt: { id: 'pmpt_1' } }],
    ['openai-responses', 'tools strict', { tools: [{ type: 'code_interpreter' }] }],
    ['anthropic-messages', 'speed capped', { speed: 'fast' }],
    ['anthropic-messages', 'inference_geo capped', { inference_geo: 'us' }],
    ['anthropic-messages', 'container capped', { container: 'c_1' }],
    ['anthropic-messages', 'tools strict', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['gemini-content', 'cachedContent strict', { cachedContent: 'cachedContents/1' }],
    ['gemini-content', 'tools strict', { tools: [{ googleSearch: {} }] }],
    ['gemini-content', 'tools strict', { tools: { googleSearch: {} } }],
    ['gemini-content', 'tools strict', { tools: [[{ url_context: {} }]] }],
    ['openai-chat', 'tools strict', { tools: { type: 'web_search' } }],
    ['openai-chat', 'Max_Tokens strict', { Max_Tokens: 100_000 }],
    ['openai-chat', 'Plugins capped', { Plugins: [{ id: 'web' }] }],
    [
      'anthropic-messages',
      'context_management strict',
      { context_management: { edits: [{ type: 'compact_20260112' }] } },
    ],
    [
      'gemini-content',
      'generationConfig.responseModalities strict',
      { generationConfig: { responseModalities: ['IMAGE'] } },
    ],
    ['bedrock-converse', 'performanceConfig capped', { performanceConfig: { latency: 'optimized' } }],
    ['bedrock-converse', 'additionalModelRequestFields capped', { additionalModelRequestFields: { a: 1 } }],
  ])('%s: %s', (format, expected, body) => {
    expect(findCostly(format, body).uses.map(({ field, effect }) => `${field} ${effect}`)).toEqual([expected]);
  });

  const image = { type: 'image_generation', model: 'gpt-image-2' };
  test.each<[WireFormat, JsonObject, boolean]>([
    ['openai-chat', { modalities: ['text', 'audio'], audio: { voice: 'alloy' } }, true],
    ['openai-chat', { modalities: ['text', 'audio'], prediction: { type: 'content' } }, false],
    ['openai-responses', { tools: [image] }, true],
    ['openai-responses', { tools: [{ ...image, model: 'gpt-image-1-mini' }] }, false],
    ['openai-responses', { tools: [{ type: 'image_generation' }] }, false],
    ['openai-responses', { tools: [image, { type: 'code_interpreter' }] }, false],
    ['gemini-content', { generationConfig: { responseModalities: ['AUDIO'] } }, true],
  ])('%s %j is told by usage in full: %p', (format, body, isTold) => {
    const { uses } = findCostly(format, body);
    expect([uses.length > 0, uses.every((use) => use.isTold === true)]).toEqual([true, isTold]);
  });

  test.each<[WireFormat, JsonObject, string[]]>([
    ['openai-chat', { models: ['a', 'b'] }, ['models a', 'models b']],
    ['openai-chat', { Model: 'a', MODELS: ['b'], Fallbacks: ['c'] }, ['Model a', 'MODELS b', 'Fallbacks c']],
    ['openai-chat', { fallbacks: ['a', { model: 'b', messages: [] }] }, ['fallbacks a', 'fallbacks.model b']],
    ['openai-chat', { plugins: [{ id: 'auto', allowed_models: ['a'] }] }, ['plugins.allowed_models a']],
    [
      'openai-chat',
      { compound_custom: { models: { answering_model: 'a' } } },
      ['compound_custom.models.answering_model a'],
    ],
    [
      'openai-chat',
      { extra_body: { fallback_model: 'a', fallbackModels: ['b'] } },
      ['extra_body.fallback_model a', 'extra_body.fallbackModels b'],
    ],
    ['openai-responses', { tools: [{ type: 'image_generation', model: 'a' }] }, ['tools.model a']],
    ['gemini-content', { requests: [{ model: 'models/a', content: {} }] }, ['requests.model models/a']],
  ])('names of models are found wherever they stand (%s %#)', (format, body, expected) => {
    expect(findCostly(format, { model: 'm', ...body }).names.map(({ field, name }) => `${field} ${name}`)).toEqual(
      expected,
    );
  });

  test.each<[WireFormat, JsonObject, string]>([
    ['openai-chat', { service_tier: 'Priority' }, 'priority'],
    ['bedrock-converse', { serviceTier: { type: 'flex' } }, 'flex'],
    ['gemini-content', { serviceTier: 'PRIORITY' }, 'priority'],
  ])('the service tier (%s)', (format, body, tier) => {
    expect(findCostly(format, body).tier).toBe(tier);
  });
});
