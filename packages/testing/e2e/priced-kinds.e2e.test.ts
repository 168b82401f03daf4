import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { logRow, settledLedger, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;

const PRICES: readonly (readonly [provider: string, model: string, prices: Record<string, unknown>])[] = [
  [
    ...(['gemini', 'gemini-8-flash-image'] as const),
    {
      ...{ input_usd_per_million: 0.3, output_usd_per_million: 2.5, output_image_usd_per_million: 30 },
      max_output_tokens: 32_768,
    },
  ],
];

describe('answers of one kind at the endpoint of another', () => {
  let world: TestEnvironment;
  let apiKey: string;
  beforeAll(async () => {
    world = await shareEnvironment({ kind: 'real' });
    for (const [provider, model, body] of PRICES) {
      await callAdmin(world.gateway, `/models?provider=${provider}&model=${model}`, { method: 'PUT', body });
    }
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);
  const newKey = async (project: Record<string, unknown> = {}) => {
    const made = { cache_enabled: false, passthrough: ['gemini', 'openai'], ...project };
    ({ apiKey } = await createTestKey(world.gateway, { project: made } as never));
  };
  beforeEach(async () => {
    world.upstream.control.reset();
    await newKey();
  });

  const post = async (path: string, body: unknown) => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const response = await fetch(world.gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    const row = () => logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    return { status: response.status, text, row };
  };

  describe('images that a chat model draws', () => {
    const MODEL = 'gemini-8-flash-image';
    const messages = [{ role: 'user', content: 'draw a fox' }];
    const contents = [{ role: 'user', parts: [{ text: 'draw a fox' }] }];
    const generationConfig = { responseModalities: ['TEXT', 'IMAGE'] };
    const WAYS: readonly (readonly [path: string, body: Record<string, unknown>, isStream: boolean])[] = [
      ['/v1/chat/completions', { model: MODEL, messages }, false],
      ['/v1/chat/completions', { model: MODEL, messages, stream: true }, true],
      ['/v1/responses', { model: MODEL, input: 'draw a fox' }, false],
      ['/v1/messages', { model: MODEL, messages, max_tokens: 3000 }, false],
      [`/v1beta/models/${MODEL}:generateContent`, { contents, generationConfig }, false],
      [`/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`, { contents, generationConfig }, true],
      ['/v1/images/generations', { model: MODEL, prompt: 'draw a fox' }, false],
    ];
    /** Formats without a place for them. */
    const NO_IMAGES: ReadonlySet<string> = new Set(['/v1/messages', '/v1/responses']);
    const draw = (isStream: boolean, isSplit: boolean) => {
      const counts = {
        promptTokenCount: 9,
        candidatesTokenCount: 1310,
        thoughtsTokenCount: 100,
        totalTokenCount: 1419,
      };
      const split = [
        { modality: 'IMAGE', tokenCount: 1290 },
        { modality: 'TEXT', tokenCount: 20 },
      ];
      const parts = [{ text: 'Here' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }];
      const answer = {
        candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
        usageMetadata: isSplit ? { ...counts, candidatesTokensDetails: split } : counts,
        ...{ modelVersion: MODEL, responseId: 'r1' },
      };
      const json = JSON.stringify(answer);
      const plain = { body: json, contentType: 'application/json' };
      world.upstream.control.setDefault(
        isStream ? { body: `data: ${json}\n\n`, contentType: 'text/event-stream' } : plain,
      );
    };

    // 9 × 300 + 100 × 2500 + 20 × 2500 + 1290 × 30,000, and without a split 1310 × 30,000.
    const BILLS = [
      [true, 39_002_700],
      [false, 39_552_700],
    ] as const;
    test.each(WAYS)('cost the price of images at %s (%j)', async (path, body, isStream) => {
      for (const [isSplit, nanoUsd] of BILLS) {
        draw(isStream, isSplit);
        const { status, text, row } = await post(path, body);
        expect([status, text.includes('AAAA') || NO_IMAGES.has(path)]).toEqual([200, true]);
        const { cost_usd, cost_estimated, modality, tokens_out } = await row();
        expect({ isSplit, cost_usd, cost_estimated, modality, tokens_out }).toEqual({
          ...{ isSplit, cost_usd: nanoUsd / 1e9, cost_estimated: false, modality: 'image', tokens_out: 1410 },
        });
      }
      expect((await settledLedger(world.gateway)).ok).toBe(true);
    });

    test.each(WAYS.slice(0, 5))('are held before they are drawn at %s', async (path, body, isStream) => {
      const limit = path.startsWith('/v1beta') ? { generationConfig: { maxOutputTokens: 100 } } : { max_tokens: 100 };
      const limited = path === '/v1/responses' ? { max_output_tokens: 100 } : limit;
      draw(isStream, true);
      await newKey({ monthly_cap_usd: 0.02 });
      expect((await post(path, { ...body, ...limited })).status).toBe(402);
      // Strict caps hold as much as the model may draw: 32,768 × 30,000.
      await newKey({ monthly_cap_usd: 0.98, strict_caps: true });
      expect((await post(path, { ...body, ...limited })).status).toBe(402);
      await newKey({ monthly_cap_usd: 1, strict_caps: true });
      const { status, row } = await post(path, { ...body, ...limited });
      expect([status, (await row()).cost_usd]).toEqual([200, 0.039_002_7]);
    });
  });
});
