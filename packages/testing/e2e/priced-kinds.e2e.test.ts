import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { type LogRow, logRow, settledLedger, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;

/** Model → its prices, each for another kind of request. */
const SHAPES = {
  text: { input_usd_per_million: 1, output_usd_per_million: 2 },
  vector: { mode: 'embedding', input_usd_per_million: 1 },
  spoken: { mode: 'speech', input_usd_per_million: 1, output_audio_usd_per_million: 12 },
  characters: { mode: 'speech', character_usd_per_million: 15 },
  heard: {
    ...{ mode: 'transcription', input_usd_per_million: 1, output_usd_per_million: 2 },
    input_audio_usd_per_million: 6,
  },
  minute: { mode: 'transcription', minute_usd: 0.006 },
  image: { mode: 'image', image_usd: 0.04 },
  drawn: { mode: 'image', input_usd_per_million: 5, output_image_usd_per_million: 30 },
  search: { mode: 'rerank', search_usd: 0.002 },
} as const;
type Shape = keyof typeof SHAPES;
const SHAPE_NAMES = Object.keys(SHAPES) as Shape[];

const PRICES: readonly (readonly [provider: string, model: string, prices: Record<string, unknown>])[] = [
  [
    ...(['gemini', 'gemini-8-flash-image'] as const),
    {
      ...{ input_usd_per_million: 0.3, output_usd_per_million: 2.5, output_image_usd_per_million: 30 },
      max_output_tokens: 32_768,
    },
  ],
  ...SHAPE_NAMES.flatMap((shape) =>
    ['openai/priced-by', 'openai/omni-moderation-by', 'cohere/rerank-by'].map((by) => {
      const [provider = '', name = ''] = by.split('/');
      return [provider, `${name}-${shape}`, SHAPES[shape]] as const;
    }),
  ),
];

/** A second of silence. */
function second(): Blob {
  const file = Buffer.alloc(44 + 8000);
  file.write('RIFF', 0);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt32LE(0x1_0001, 20);
  file.writeUInt32LE(8000, 24);
  file.writeUInt32LE(8000, 28);
  file.writeUInt32LE(0x8_0001, 32);
  file.write('data', 36);
  file.writeUInt32LE(8000, 40);
  return new Blob([file], { type: 'audio/wav' });
}

function formOf(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', second(), 'a.wav');
  return form;
}

describe('answers of one kind at the endpoint of another', () => {
  let world: TestEnvironment;
  let apiKey: string;
  beforeAll(async () => {
    world = await shareEnvironment({
      kind: 'real',
      env: ({ url }) => ({ COHERE_API_KEY: 'cohere-fake-key', COHERE_BASE_URL: url }),
    });
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
    const isForm = path.includes('/transcriptions');
    const headers = { 'x-api-key': apiKey, ...(isForm ? {} : { 'content-type': 'application/json' }) };
    const sent = isForm ? formOf(body as Record<string, string>) : JSON.stringify(body);
    const response = await fetch(world.gateway.url + path, { method: 'POST', headers, body: sent });
    const text = await response.text();
    const row = () => logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    return { status: response.status, text, row };
  };

  describe('a price that does not cover a request', () => {
    const TEXT: readonly Shape[] = ['text', 'heard'];
    const turn = [{ role: 'user', content: 'Hi' }];
    const KINDS: readonly (readonly [path: string, priced: readonly Shape[], body: Record<string, unknown>])[] = [
      ['/v1/chat/completions', TEXT, { messages: turn }],
      ['/v1/responses', TEXT, { input: 'Hi' }],
      ['/v1/messages', TEXT, { messages: turn, max_tokens: 20 }],
      ['/v1/completions', TEXT, { prompt: 'Hi' }],
      ['/passthrough/openai/v1/chat/completions', TEXT, { messages: turn, max_tokens: 20 }],
      ['/passthrough/openai/v1/embeddings', ['text', 'vector', 'spoken', 'heard', 'drawn'], { input: 'Hi' }],
      // A model of another kind has no vectors, whatever its price.
      ['/v1/embeddings', ['vector'], { input: 'Hi' }],
      ['/v1/images/generations', ['image', 'drawn'], { prompt: 'a fox' }],
      ['/v1/audio/speech', ['characters', 'spoken'], { input: 'Hi', voice: 'alloy' }],
      ['/v1/audio/transcriptions', ['heard', 'minute'], {}],
      ['/v1/moderations', ['text', 'vector', 'spoken', 'heard', 'drawn'], { input: 'Hi' }],
      ['/v1/decisions', TEXT, { input: 'Hi', questions: [{ type: 'predicate', name: 'spam' }] }],
      ['/v1/rerank', ['text', 'vector', 'spoken', 'heard', 'drawn', 'search'], { query: 'sky', documents: ['a', 'b'] }],
    ];
    /** Where models of every price are, if not beside those for chat. */
    const NAMES: Readonly<Record<string, string>> = {
      '/v1/moderations': 'openai/omni-moderation-by',
      '/v1/rerank': 'cohere/rerank-by',
    };
    test.each(KINDS)('is a missing price at %s', async (path, priced, body) => {
      await newKey({ monthly_cap_usd: 5 });
      if (path.endsWith('transcriptions')) world.upstream.control.setDefault({ seconds: 60 });
      for (const shape of SHAPE_NAMES) {
        const name = `${NAMES[path] ?? 'openai/priced-by'}-${shape}`;
        const model = path.startsWith('/passthrough') ? name.slice('openai/'.length) : name;
        const { received } = world.upstream.control.counters;
        const { status, text, row } = await post(path, { ...body, model });
        const asked = world.upstream.control.counters.received - received;
        if (!priced.includes(shape)) {
          const isKnown =
            text.includes('has no price') || text.includes('is not known') || text.includes('has no embeddings');
          expect([shape, status, isKnown, asked]).toEqual([shape, 400, true, 0]);
          continue;
        }
        const { cost_usd, cost_detail } = (await row()) as LogRow & { cost_detail: { price_source?: string } };
        expect([shape, status, cost_usd > 0, cost_detail.price_source, asked]).toEqual([
          shape,
          200,
          true,
          undefined,
          1,
        ]);
      }
    });

    test('is refused by name under strict caps, and marked where a project allows it', async () => {
      const chat = { model: 'openai/priced-by-spoken', messages: turn };
      await newKey({ strict_caps: true, monthly_cap_usd: 5 });
      const refused = await post('/v1/chat/completions', chat);
      expect(refused.status).toBe(400);
      expect(refused.text).toContain('\\"openai/priced-by-spoken\\" has no price for this kind of request (output)');
      await newKey({ monthly_cap_usd: 5, unknown_model_policy: 'allow_unpriced' });
      const { status, row } = await post('/v1/chat/completions', chat);
      expect([status, await row()]).toMatchObject([200, { cost_detail: { price_source: 'unpriced' } }]);
    });
  });

  test('media and tools that usage tells in full are no estimate', async () => {
    const tokens = {
      input_tokens: 50,
      output_tokens: 1000,
      total_tokens: 1050,
      input_tokens_details: { text_tokens: 50 },
    };
    const spoken = { prompt_tokens: 100, completion_tokens: 80, total_tokens: 180 };
    const split = { prompt_tokens_details: { audio_tokens: 60 }, completion_tokens_details: { audio_tokens: 70 } };
    const chat = {
      ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'priced-by-heard' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    };
    const response = {
      ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'priced-by-text' },
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }],
      ...{ usage: { input_tokens: 12, output_tokens: 5, total_tokens: 17 }, tool_usage: { image_gen: tokens } },
    };
    const speech = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' }, max_tokens: 100 };
    const heard = { model: 'openai/priced-by-heard', messages: [{ role: 'user', content: 'Hi' }], ...speech };
    const tool = { type: 'image_generation', model: 'gpt-image-2' };
    const drawn = { model: 'openai/priced-by-text', input: 'Hi', tools: [tool] };
    // 60 × 6000 + 40 × 1000 + 80 × 2000; without a split, nobody knows.
    const bills = [
      ['/v1/chat/completions', heard, { ...chat, usage: { ...spoken, ...split } }, 560_000, false],
      ['/v1/chat/completions', heard, { ...chat, usage: spoken }, 260_000, true],
      // 12 × 1000 + 5 × 2000, and the tool's 50 × 5000 + 1000 × 30,000.
      ['/v1/responses', drawn, response, 30_272_000, false],
      ['/v1/responses', { ...drawn, tools: [{ type: 'image_generation' }] }, response, 30_272_000, true],
    ] as const;
    for (const [path, body, answer, nanoUsd, isEstimate] of bills) {
      world.upstream.control.setDefault({ body: JSON.stringify(answer), contentType: 'application/json' });
      const { status, row } = await post(path, body);
      const { cost_usd, cost_estimated } = await row();
      expect([path, status, cost_usd, cost_estimated]).toEqual([path, 200, nanoUsd / 1e9, isEstimate]);
    }
  });

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
