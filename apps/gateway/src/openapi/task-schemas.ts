import { TRANSCRIPT_FORMATS } from '@llm0/core/tasks/audio';
import {
  arrayOf,
  COUNT,
  METADATA,
  MODEL,
  NUMBER,
  nullable,
  OBJECT,
  oneOfTexts,
  openObject,
  type Part,
  STREAM,
  TEXT,
} from './document-parts';

const TEXTS = { anyOf: [TEXT, arrayOf({ anyOf: [TEXT, OBJECT] }, { minItems: 1 })] };
const FILE = { type: 'string', format: 'binary' } as const;

const PICTURE = {
  type: 'object',
  description: 'One of the two: a file of `/v1/files`, or a data URL',
  properties: { file_id: TEXT, image_url: TEXT },
} as const;

const image = {
  model: MODEL,
  prompt: TEXT,
  n: { type: 'integer', minimum: 1, maximum: 10, default: 1 },
  size: { type: 'string', description: '`<width>x<height>` or `auto`', examples: ['1024x1024'] },
  quality: { type: 'string', description: "The vendor's own, such as `low` or `high`" },
  output_format: oneOfTexts('png', 'webp', 'jpeg', 'gif', 'svg'),
  response_format: oneOfTexts('b64_json', 'url'),
  stream: STREAM,
  partial_images: { type: 'integer', minimum: 0, maximum: 3, description: 'Unfinished images of a stream' },
} as const;

const recording = {
  model: MODEL,
  file: { ...FILE, description: 'FLAC, MP3, MP4, M4A, Ogg, WAV or WebM, at most 25 MiB' },
  prompt: TEXT,
  response_format: oneOfTexts(...TRANSCRIPT_FORMATS),
} as const;

/** Requests and answers of what models do besides text and vectors. */
export const TASK_SCHEMAS: Readonly<Record<string, Part>> = {
  ImageRequest: openObject(image, ['model', 'prompt']),
  ImageEditRequest: openObject(
    {
      ...image,
      image: arrayOf(FILE, { minItems: 1, maxItems: 16, description: 'As `image` or `image[]`' }),
      mask: FILE,
    },
    ['model', 'prompt', 'image'],
  ),
  ImageEditJsonRequest: openObject(
    {
      ...image,
      images: arrayOf(PICTURE, { minItems: 1, maxItems: 16 }),
      mask: PICTURE,
    },
    ['model', 'prompt', 'images'],
  ),
  TranscriptionRequest: openObject({ ...recording, stream: { type: 'boolean', default: false } }, ['model', 'file']),
  TranslationRequest: openObject(recording, ['model', 'file']),
  Transcription: openObject(
    { text: TEXT, usage: openObject({ type: oneOfTexts('tokens', 'duration'), seconds: NUMBER }), ...METADATA },
    ['text', 'cost_usd'],
  ),
  SpeechRequest: openObject(
    {
      model: MODEL,
      input: { type: 'string', maxLength: 4096 },
      voice: { anyOf: [TEXT, OBJECT] },
      instructions: TEXT,
      response_format: { ...oneOfTexts('mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'), default: 'mp3' },
      stream_format: { ...oneOfTexts('audio', 'sse'), default: 'audio' },
    },
    ['model', 'input', 'voice'],
  ),
  Speech: FILE,
  Images: openObject(
    {
      created: COUNT,
      data: arrayOf(openObject({ b64_json: TEXT, url: TEXT, revised_prompt: TEXT })),
      usage: openObject({ input_tokens: COUNT, output_tokens: COUNT, total_tokens: COUNT }),
      model: TEXT,
      ...METADATA,
    },
    ['created', 'data', 'model', 'cost_usd'],
  ),
  DecisionRequest: openObject(
    {
      model: MODEL,
      input: { anyOf: [TEXT, arrayOf(OBJECT, { minItems: 1 })] },
      questions: arrayOf(
        openObject({ type: oneOfTexts('predicate', 'choice', 'score'), name: nullable('string') }, ['type']),
        {
          ...{ minItems: 1, maxItems: 400 },
        },
      ),
    },
    ['model', 'input', 'questions'],
  ),
  Decision: openObject(
    {
      answers: arrayOf(openObject({ type: TEXT, name: nullable('string') }, ['type'])),
      model: TEXT,
      usage: openObject({ input_tokens: COUNT, output_tokens: COUNT, total_tokens: COUNT }),
      ...METADATA,
    },
    ['answers', 'model', 'usage', 'cost_usd'],
  ),
  ClientSecretRequest: openObject(
    {
      expires_after: openObject({
        anchor: oneOfTexts('created_at'),
        seconds: { type: 'integer', minimum: 10, maximum: 7200, default: 600 },
      }),
      session: openObject({ type: oneOfTexts('realtime', 'transcription'), model: MODEL }, [], {
        description: 'First settings of each session, as the provider documents them',
      }),
    },
    ['session'],
  ),
  ClientSecret: openObject({ value: TEXT, expires_at: COUNT, session: OBJECT }, ['value', 'expires_at', 'session']),
  ModerationRequest: openObject({ model: { ...MODEL, default: 'omni-moderation-latest' }, input: TEXTS }, ['input']),
  Moderation: openObject(
    {
      id: TEXT,
      model: TEXT,
      results: arrayOf(
        openObject({ flagged: { type: 'boolean' }, categories: OBJECT, category_scores: OBJECT }, ['flagged']),
      ),
      ...METADATA,
    },
    ['id', 'model', 'results', 'cost_usd'],
  ),
  RerankRequest: openObject(
    {
      model: MODEL,
      query: TEXT,
      documents: arrayOf({ anyOf: [TEXT, openObject({ text: TEXT }, ['text'])] }, { minItems: 1 }),
      top_n: nullable('integer', { minimum: 1 }),
      max_tokens_per_doc: nullable('integer', { minimum: 1 }),
    },
    ['model', 'query', 'documents'],
  ),
  Ranking: openObject(
    {
      id: TEXT,
      model: TEXT,
      results: arrayOf(openObject({ index: COUNT, relevance_score: NUMBER }, ['index', 'relevance_score'])),
      meta: openObject({ billed_units: openObject({ search_units: COUNT, input_tokens: COUNT }) }),
      ...METADATA,
    },
    ['id', 'model', 'results', 'cost_usd'],
  ),
};
