import { expect, test } from 'bun:test';
import type { ProviderConnection } from '../provider-request';
import { azure } from './azure';

function encode(connection: ProviderConnection) {
  const request = { model: 'azure/my gpt', messages: [], stream: false, extra: {} };
  return azure.encodeRequest(request, { connection, model: 'my gpt', dropParams: false });
}

test.each(['https://me.openai.azure.com', 'https://me.openai.azure.com/', 'https://me.openai.azure.com/openai/v1'])(
  'the deployment is in the URL, the key in its own header: %s',
  (baseUrl) => {
    const { url, headers } = encode({ baseUrl, apiKey: 'secret', headers: { 'x-more': '1' } });
    expect(url).toBe('https://me.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21');
    expect(headers).toMatchObject({ 'api-key': 'secret', 'x-more': '1', 'content-type': 'application/json' });
    expect(headers).not.toHaveProperty('authorization');
  },
);

test('text is continued by the deployment, with the key in its own header', () => {
  const [connection, model] = [{ baseUrl: 'https://me.openai.azure.com', apiKey: 'secret' }, 'gpt-35-turbo-instruct'];
  const prompt = { prompts: ['Once'], chat: {} };
  const wire = { format: 'openai-completions', body: { prompt: 'Once', suffix: 'end' } } as const;
  const request = { model, messages: [], prompt, stream: false, extra: {}, wire };
  const { completions } = azure;
  expect([completions?.serves({ model }), completions?.serves({ model: 'my gpt' })]).toEqual([true, false]);
  const encoded = completions?.encodeRequest(request, { connection, model, dropParams: false });
  expect(encoded?.url).toContain('/openai/deployments/gpt-35-turbo-instruct/completions?api-version=');
  expect(encoded?.headers).toMatchObject({ 'api-key': 'secret' });
  expect(encoded?.headers).not.toHaveProperty('authorization');
  expect(JSON.parse(String(encoded?.body))).toEqual({ model, prompt: 'Once', suffix: 'end' });
});

test('another version of the API', () => {
  const { url } = encode({ baseUrl: 'https://me.openai.azure.com', options: { apiVersion: '2025-04-01-preview' } });
  expect(url).toEndWith('?api-version=2025-04-01-preview');
});
