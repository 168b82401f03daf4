import type { JsonValue } from '@llm0/core/chat/json';
import { completionTokens, promptTokens, type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { asCount, asCounts, asObject } from '../../translation/read-json';

/**
 * Usage of one answer, in disjoint classes; undefined where none is told.
 * Source: https://platform.openai.com/docs/api-reference/realtime-server-events/response/done
 */
export function readTurnUsage(value: JsonValue | undefined): Usage | undefined {
  const told = asCounts(value);
  if (told === undefined) return undefined;
  const input = asCount(told.input_tokens);
  const output = asCount(told.output_tokens);
  const read = asObject(told.input_token_details) ?? {};
  const written = asObject(told.output_token_details) ?? {};
  const cached = asObject(read.cached_tokens_details) ?? {};
  const audio = Math.min(asCount(read.audio_tokens), input);
  const image = Math.min(asCount(read.image_tokens), input - audio);
  const cachedAudio = Math.min(asCount(cached.audio_tokens), audio);
  const cachedImage = Math.min(asCount(cached.image_tokens), image);
  // Without details, all that is cached is text.
  const cachedText = Math.min(asCount(read.cached_tokens) - cachedAudio - cachedImage, input - audio - image);
  const cacheReadTokens = Math.max(0, cachedText);
  const outputAudioTokens = Math.min(asCount(written.audio_tokens), output);
  const reasoningTokens = Math.min(asCount(written.reasoning_tokens), output - outputAudioTokens);
  const usage: Usage = {
    ...ZERO_USAGE,
    inputTokens: input - audio - image - cacheReadTokens,
    cacheReadTokens,
    inputAudioTokens: audio - cachedAudio,
    ...(cachedAudio === 0 ? {} : { cacheReadAudioTokens: cachedAudio }),
    ...(image === cachedImage ? {} : { inputImageTokens: image - cachedImage }),
    ...(cachedImage === 0 ? {} : { cacheReadImageTokens: cachedImage }),
    outputTokens: output - outputAudioTokens - reasoningTokens,
    reasoningTokens,
    outputAudioTokens,
  };
  return promptTokens(usage) + completionTokens(usage) === 0 ? undefined : usage;
}
