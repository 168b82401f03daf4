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

test('another version of the API', () => {
  const { url } = encode({ baseUrl: 'https://me.openai.azure.com', options: { apiVersion: '2025-04-01-preview' } });
  expect(url).toEndWith('?api-version=2025-04-01-preview');
});
