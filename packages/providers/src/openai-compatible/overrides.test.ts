import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { createProviderRegistry } from '../registry';
import { createCustomProvider } from './create-custom-provider';

const registry = createProviderRegistry([...createProviderRegistry().list(), createCustomProvider('house', true)]);

interface Cloud {
  readonly name: string;
  readonly baseUrl: string;
  /** Where an output limit sent as `max_completion_tokens` ends up. */
  readonly limit: 'max_tokens' | 'max_completion_tokens';
  readonly topK: boolean;
  readonly streamOptions?: false;
  readonly seed?: string;
  /** Free list that shows if a key is valid. */
  readonly probe?: string;
}

const CLOUDS: readonly Cloud[] = [
  { name: 'groq', baseUrl: 'https://api.groq.com/openai/v1', limit: 'max_completion_tokens', topK: false },
  { name: 'together', baseUrl: 'https://api.together.xyz/v1', limit: 'max_tokens', topK: true },
  { name: 'deepseek', baseUrl: 'https://api.deepseek.com/v1', limit: 'max_tokens', topK: false },
  { name: 'xai', baseUrl: 'https://api.x.ai/v1', limit: 'max_completion_tokens', topK: false },
  {
    name: 'mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    limit: 'max_tokens',
    topK: false,
    streamOptions: false,
    seed: 'random_seed',
  },
  { name: 'openrouter', baseUrl: 'https://openrouter.ai/api/v1', limit: 'max_completion_tokens', topK: true },
  { name: 'fireworks', baseUrl: 'https://api.fireworks.ai/inference/v1', limit: 'max_tokens', topK: true },
  {
    name: 'voyage',
    baseUrl: 'https://api.voyageai.com/v1',
    limit: 'max_tokens',
    topK: true,
    probe: 'batches?limit=1',
  },
  { name: 'jina', baseUrl: 'https://api.jina.ai/v1', limit: 'max_tokens', topK: true },
  { name: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1', limit: 'max_tokens', topK: true },
  { name: 'house', baseUrl: 'https://llm.example/v1', limit: 'max_completion_tokens', topK: true },
];

describe.each(CLOUDS)('$name', ({ name, baseUrl, limit, topK, streamOptions, seed = 'seed', probe = 'models' }) => {
  const provider = registry.get(name);
  if (provider === undefined) throw new Error(`no provider ${name}`);
  const wire: JsonObject = {
    model: 'asked',
    messages: [{ role: 'user', content: 'Hi' }],
    stream: true,
    max_completion_tokens: 9,
    seed: 7,
    temperature: 0,
    reasoning_effort: 'low',
    vendor_extra: { deep: [1, null] },
  };
  const request: ChatRequest = {
    model: 'asked',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    stream: true,
    extra: {},
    wire: { format: 'openai-chat', body: wire },
  };
  const own = provider.defaultBaseUrl === '' ? baseUrl : provider.defaultBaseUrl;
  const context = { connection: { baseUrl: own, apiKey: 'sk-test' }, model: 'theirs', dropParams: false };

  test('goes to its own place with its key in the header', () => {
    const { url, headers } = provider.encodeRequest(request, context);
    expect(url).toBe(`${baseUrl}/chat/completions`);
    expect(headers.authorization).toBe('Bearer sk-test');
    expect(url).not.toContain('sk-test');
    expect(provider.probeUrl?.(context.connection).url).toBe(`${baseUrl}/${probe}`);
  });

  test('every field arrives, those it calls otherwise by its own name', () => {
    const { max_completion_tokens: tokens, seed: seedValue, ...same } = wire;
    const body = JSON.parse(String(provider.encodeRequest(request, context).body));
    expect(body).toEqual({
      ...same,
      model: 'theirs',
      [limit]: tokens,
      [seed]: seedValue,
      ...(streamOptions === false ? {} : { stream_options: { include_usage: true } }),
    });
  });

  test('top_k of a request in another format is sent or refused by name', () => {
    const { wire: _wire, ...translated } = request;
    const encode = () => provider.encodeRequest({ ...translated, topK: 5 }, context);
    if (topK) expect(JSON.parse(String(encode().body)).top_k).toBe(5);
    else {
      expect(encode).toThrow(GatewayError);
      expect(provider.encodeRequest({ ...translated, topK: 5 }, { ...context, dropParams: true }).dropped).toEqual([
        'top_k',
      ]);
    }
  });

  test('only the local one is free, and only servers whose models come and go are asked for them', () => {
    expect(provider.isFree).toBe(name === 'ollama');
    expect(provider.modelsUrl !== undefined).toBe(name === 'ollama' || name === 'house');
  });
});

test('embeddings of a server that does not know the user: named, not sent', () => {
  const { embeddings } = registry.get('voyage') ?? {};
  const context = { connection: { baseUrl: 'https://h/v1' }, model: 'voyage-4', dropParams: false };
  const request = { model: 'm', inputs: ['a'], dimensions: 256, user: 'u', extra: { input_type: 'query' } };
  const { body, dropped } = embeddings?.encodeRequest(request, context) ?? {};
  expect(JSON.parse(String(body))).toEqual({
    ...{ model: 'voyage-4', input: ['a'], output_dimension: 256, input_type: 'query' },
  });
  expect(dropped).toEqual(['user']);
});
