import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import type { FakeBehaviour } from './behaviour';

/** How one endpoint answers; `usage` of the behaviour replaces what it counts, and null leaves it out. */
export type RenderTask = (body: JsonObject, behaviour: FakeBehaviour) => JsonObject;

const countWords = (texts: readonly JsonValue[]) =>
  texts.reduce<number>((sum, text) => sum + String(text).split(/\s+/).length, 0);
const asList = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : [value ?? '']);

/** Share of the query's words that a document has. */
export function fakeScore(query: string, document: string): number {
  const words = query.toLowerCase().split(/\s+/);
  return words.filter((word) => document.toLowerCase().includes(word)).length / words.length;
}

function rank(body: JsonObject, top: JsonValue | undefined) {
  const scored = asList(body.documents).map((document, index) => {
    return { index, relevance_score: fakeScore(String(body.query), String(document)) };
  });
  return scored.sort((a, b) => b.relevance_score - a.relevance_score).slice(0, Number(top ?? scored.length));
}

const tokensOf = ({ usage }: FakeBehaviour, counted: number) =>
  usage === null ? undefined : (usage?.prompt ?? counted);
const pairTokens = ({ query, documents }: JsonObject) => countWords([query ?? '', ...asList(documents)]);
const withTokens = (body: JsonObject, behaviour: FakeBehaviour): JsonObject => {
  const total_tokens = tokensOf(behaviour, pairTokens(body));
  return total_tokens === undefined ? {} : { usage: { total_tokens } };
};

/** A PNG that says what was drawn. */
export const fakePicture = (prompt: string, index = 0) =>
  Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(`${prompt} ${index}`)]).toString('base64');

/** Usage of images as the vendor splits it; `cached` stands for text. */
function imageUsage({ usage = {} }: FakeBehaviour): JsonObject {
  if (usage === null) return {};
  const { prompt = 10, completion = 100, cached = 0, pictures = 0 } = usage;
  return {
    usage: {
      ...{ input_tokens: prompt, output_tokens: completion, total_tokens: prompt + completion },
      input_tokens_details: { image_tokens: pictures, text_tokens: prompt - pictures, cached_tokens: cached },
    },
  };
}

const drawn = (body: JsonObject) =>
  Array.from({ length: Number(body.n ?? 1) }, (_, index) => fakePicture(String(body.prompt), index));

const openaiImages: RenderTask = (body, behaviour) => ({
  created: 1,
  data: drawn(body).map((b64_json) => ({ b64_json, revised_prompt: `fine ${body.prompt}` })),
  ...imageUsage(behaviour),
  ...svgUsage(body),
});

/** A text model has written an SVG. */
const svgUsage = ({ svg }: JsonObject): JsonObject =>
  isObject(svg)
    ? {
        svg_usage: {
          model: `${svg.model ?? 'gpt-writer'}-2026-10-01`,
          input_tokens: 20,
          output_tokens: 500,
          reasoning_tokens: 100,
        },
      }
    : {};

/** Unfinished images, then the image. */
export function imageEvents(name: string, body: JsonObject, behaviour: FakeBehaviour): string[] {
  const partials = Array.from({ length: Number(body.partial_images ?? 0) }, (_, index) => {
    return { type: `${name}.partial_image`, partial_image_index: index, b64_json: fakePicture('partial', index) };
  });
  const whole = {
    type: `${name}.completed`,
    b64_json: fakePicture(String(body.prompt)),
    ...imageUsage(behaviour),
    ...svgUsage(body),
  };
  return [...partials, whole].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

/** What is heard in every file. */
export const HEARD = 'Hello from the recording.';

/** Usage of a transcript: tokens by default, seconds where the behaviour tells them. */
function heardUsage({ usage = {}, seconds }: FakeBehaviour): JsonObject {
  if (seconds !== undefined) return { usage: { type: 'duration', seconds } };
  if (usage === null) return {};
  const { prompt = 100, completion = 20 } = usage;
  return {
    usage: {
      ...{ type: 'tokens', input_tokens: prompt, output_tokens: completion, total_tokens: prompt + completion },
      input_token_details: { audio_tokens: prompt - 10, text_tokens: 10 },
    },
  };
}

const heard: RenderTask = ({ response_format: format }, behaviour) => {
  const duration = behaviour.seconds ?? 3;
  const segments = [
    { id: 0, start: 0, end: 1.5, text: ' Hello from' },
    { id: 1, start: 1.5, end: 3, text: ' the recording.' },
  ];
  const details: JsonObject =
    format === 'verbose_json' ? { task: 'transcribe', language: 'english', duration, segments } : {};
  return { text: HEARD, ...details, ...heardUsage(behaviour) };
};

/** Pieces of the text, then all of it. */
export function heardEvents(behaviour: FakeBehaviour): JsonObject[] {
  const deltas = HEARD.split(/(?= )/).map((delta) => ({ type: 'transcript.text.delta', delta }));
  return [...deltas, { type: 'transcript.text.done', text: HEARD, ...heardUsage(behaviour) }];
}

/** Bytes that say what is said, and its voice. */
export const fakeSpeech = ({ input, voice }: JsonObject) => Buffer.from(`ID3 ${voice}: ${input}`.repeat(20));

/** The same in pieces, then its usage. */
export function spokenEvents(body: JsonObject, { usage = {} }: FakeBehaviour): JsonObject[] {
  const speech = fakeSpeech(body);
  const { prompt = 10, completion = 200 } = usage ?? {};
  const counts = { input_tokens: prompt, output_tokens: completion, total_tokens: prompt + completion };
  const pieces = Array.from({ length: Math.ceil(speech.length / 50) }, (_, index) => ({
    type: 'speech.audio.delta',
    audio: speech.subarray(50 * index, 50 * index + 50).toString('base64'),
  }));
  return [...pieces, { type: 'speech.audio.done', ...(usage === null ? {} : { usage: counts }) }];
}

/** Endpoints of vendors beside chat and embeddings, by path. */
export const FAKE_TASKS = {
  '/v1/moderations': ({ model, input }, behaviour) => {
    const isOne = typeof input === 'string' || asList(input).some((part) => typeof part !== 'string');
    const texts = isOne ? [JSON.stringify(input)] : asList(input);
    const results = texts.map((text) => {
      const violence = String(text).includes('kill');
      return { flagged: violence, categories: { violence }, category_scores: { violence: violence ? 0.9 : 0.1 } };
    });
    const tokens = behaviour.usage === undefined ? undefined : tokensOf(behaviour, 0);
    return {
      id: 'modr-fake',
      model: model ?? '',
      results,
      ...(tokens === undefined ? {} : { usage: { prompt_tokens: tokens } }),
    };
  },
  '/v1/decisions': ({ model, questions }, { usage = {} }) => {
    const { prompt = 10, completion = 20, cached = 0, reasoning = 0 } = usage ?? {};
    const counts = {
      ...{ input_tokens: prompt, output_tokens: completion, total_tokens: prompt + completion },
      input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: reasoning },
    };
    const answers = asList(questions).map((question) => {
      return { type: 'predicate', name: (question as JsonObject).name ?? null, probability: 0.75 };
    });
    return { answers, model: model ?? '', ...(usage === null ? {} : { usage: counts }) };
  },
  '/v2/rerank': (body, behaviour) => {
    const search_units = tokensOf(behaviour, 1);
    return {
      id: 'fake',
      results: rank(body, body.top_n),
      meta: {
        api_version: { version: '2' },
        ...(search_units === undefined ? {} : { billed_units: { search_units } }),
      },
    };
  },
  '/v1/rerank': (body, behaviour) => ({
    model: body.model ?? '',
    results: rank(body, body.top_n),
    ...withTokens(body, behaviour),
  }),
  '/voyage/v1/rerank': (body, behaviour) => ({
    object: 'list',
    data: rank(body, body.top_k),
    ...withTokens(body, behaviour),
  }),
  '/v1/audio/transcriptions': heard,
  '/v1/audio/translations': heard,
  '/openai/deployments/:model/audio/transcriptions': heard,
  // Tells no usage.
  '/groq/v1/audio/transcriptions': (body, behaviour) => heard(body, { ...behaviour, usage: null, seconds: undefined }),
  '/v1/audio/speech': (body) => body,
  '/v1/images/generations': openaiImages,
  '/v1/images/edits': openaiImages,
  '/openai/deployments/:model/images/generations': openaiImages,
  '/openai/deployments/:model/images/edits': openaiImages,
  // Links unless base64 is asked for by its name there.
  '/together/v1/images/generations': (body) => ({
    data: drawn(body).map((base64, index): JsonObject => {
      return body.response_format === 'base64'
        ? { index, b64_json: base64 }
        : { index, url: `https://cdn.example/${index}` };
    }),
  }),
  '/xai/v1/images/generations': (body) => ({
    data: drawn(body).map((b64_json) => ({ b64_json, revised_prompt: `fine ${body.prompt}` })),
  }),
  '/xai/v1/images/edits': (body) => ({ data: drawn(body).map((b64_json) => ({ b64_json })) }),
  predict: ({ instances, parameters }) => {
    const prompt = String((instances as JsonObject[])[0]?.prompt);
    const images = drawn({ prompt, n: (parameters as JsonObject).sampleCount ?? 1 });
    return { predictions: images.map((bytesBase64Encoded) => ({ bytesBase64Encoded, mimeType: 'image/png' })) };
  },
  invoke: (body): JsonObject => {
    if (body.query !== undefined) return { results: rank(body, body.top_n) };
    const prompt = (body.textToImageParams as JsonObject).text ?? '';
    return { images: drawn({ prompt, n: (body.imageGenerationConfig as JsonObject).numberOfImages ?? 1 }) };
  },
  speakContent: ({ contents }, { usage = {} }): JsonObject => {
    const parts = ((contents as JsonObject[])[0]?.parts ?? []) as JsonObject[];
    const data = Buffer.from(String(parts[0]?.text).repeat(2)).toString('base64');
    const { prompt = 10, completion = 200 } = usage ?? {};
    const counts = { promptTokenCount: prompt, candidatesTokenCount: completion, totalTokenCount: prompt + completion };
    return {
      candidates: [{ content: { parts: [{ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data } }] } }],
      ...(usage === null ? {} : { usageMetadata: counts }),
    };
  },
  generateContent: ({ contents }, { usage = {} }) => {
    const parts = ((contents as JsonObject[])[0]?.parts ?? []) as JsonObject[];
    const { prompt = 10, completion = 1290, pictures = 0 } = usage ?? {};
    const data = fakePicture(String(parts[0]?.text));
    return {
      candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data } }] }, finishReason: 'STOP' }],
      ...(usage === null
        ? {}
        : {
            usageMetadata: {
              ...{ promptTokenCount: prompt, candidatesTokenCount: completion, totalTokenCount: prompt + completion },
              promptTokensDetails: [
                { modality: 'TEXT', tokenCount: prompt - pictures },
                { modality: 'IMAGE', tokenCount: pictures },
              ],
            },
          }),
    };
  },
} as const satisfies Record<string, RenderTask>;
