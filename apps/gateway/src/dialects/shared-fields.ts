import { ELSEWHERE, type FieldReader, readBoolean, readNumber, readObject, readString, set } from './read-fields';

const MAX_OUTPUT_TOKENS = 1_000_000_000;
const TEMPERATURE = { min: 0, max: 2 } as const;
const TOP_LOGPROBS = { min: 0, max: 100, integer: true } as const;
export const SHARE = { min: 0, max: 1 } as const;
export const OUTPUT_LIMIT = { min: 1, max: MAX_OUTPUT_TOKENS, integer: true } as const;

/** Shared names of two formats of one provider. */
export const OPENAI_FIELDS: readonly (readonly [name: string, reader: FieldReader])[] = [
  ['model', ELSEWHERE],
  ['stream', (to, body) => set(to, 'stream', readBoolean(body, 'stream'))],
  ['temperature', (to, body) => set(to, 'temperature', readNumber(body, 'temperature', TEMPERATURE))],
  ['top_p', (to, body) => set(to, 'topP', readNumber(body, 'top_p', SHARE))],
  ['top_logprobs', (to, body) => set(to, 'topLogprobs', readNumber(body, 'top_logprobs', TOP_LOGPROBS))],
  ['service_tier', (to, body) => set(to, 'serviceTier', readString(body, 'service_tier'))],
  ['user', (to, body) => set(to, 'user', readString(body, 'user'))],
  ['metadata', (to, body) => set(to, 'metadata', readObject(body, 'metadata'))],
  ['parallel_tool_calls', (to, body) => set(to, 'parallelToolCalls', readBoolean(body, 'parallel_tool_calls'))],
  [
    'stream_options',
    (_to, body, extra) => {
      extra.stream_options = readObject(body, 'stream_options') ?? null;
    },
  ],
];
