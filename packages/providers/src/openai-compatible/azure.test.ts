import { expect, test } from 'bun:test';
import type { TokenPrices } from '@llm0/core/pricing/price-book';
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

/** What images, transcripts and speech are sent to, and the body of the transcript. */
function encodeMedia(options?: Record<string, string>, prices: TokenPrices = {}) {
  const connection: ProviderConnection = { baseUrl: 'https://me.openai.azure.com', ...(options && { options }) };
  const priced = { provider: 'azure', model: 'mine', mode: '', prices, capabilities: [] };
  const context = { connection, model: 'mine', dropParams: false, priced };
  const common = { model: 'azure/mine', stream: false, extra: {} };
  const file = { name: 'a.wav', type: 'audio/wav', pieces: [Buffer.from('RIFF')] };
  const heard = { ...common, file, facts: { format: 'wav' }, size: 4, translates: false, format: 'json' } as const;
  const tasks = azure.tasks;
  const encoded = [
    tasks?.image?.encodeRequest({ ...common, prompt: 'p', count: 1 }, context),
    tasks?.speech?.encodeRequest({ ...common, input: 'i', voice: 'v', wantsEvents: false }, context),
    tasks?.transcription?.encodeRequest(heard, context),
  ];
  return { urls: encoded.map((one) => one?.url.replace(/.*deployments/, '')), heard: encoded[2] };
}

test('images and audio have a version of their own', () => {
  expect(encodeMedia().urls).toEqual([
    '/mine/images/generations?api-version=2025-04-01-preview',
    '/mine/audio/speech?api-version=2025-04-01-preview',
    '/mine/audio/transcriptions?api-version=2025-04-01-preview',
  ]);
  for (const url of encodeMedia({ apiVersion: '2025-03-01-preview' }).urls)
    expect(url).toEndWith('?api-version=2025-03-01-preview');
});

test('only what is billed by time is asked for the time', async () => {
  const formatOf = async (prices: TokenPrices) => {
    const form = await new Response(encodeMedia({}, prices).heard?.body as Blob).text();
    return /name="response_format"\r\n\r\n(\w+)/.exec(form)?.[1];
  };
  expect(await formatOf({ minute: 1 })).toBe('verbose_json');
  expect(await formatOf({ input: 1, input_audio: 1, output: 1 })).toBe('json');
});

test('another version of the API', () => {
  const { url } = encode({ baseUrl: 'https://me.openai.azure.com', options: { apiVersion: '2025-01-01-preview' } });
  expect(url).toEndWith('?api-version=2025-01-01-preview');
});
