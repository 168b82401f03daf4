import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import type { TranscriptAnswer } from '@llm0/core/tasks/audio';
import type { JudgedAnswer } from './task';

/** A transcript with its text and segments judged. Segments keep their times: subtitles are made of them. */
export async function judgeTranscript(
  by: JudgedAnswer,
  { segments, words: _words, logprobs: _logprobs, ...answer }: TranscriptAnswer,
): Promise<TranscriptAnswer> {
  const text = await by.text(answer.text);
  if (!Array.isArray(segments)) return { ...answer, text };
  const judged = await by.value(segments);
  if (text === answer.text && judged === segments) return { ...answer, segments };
  return { ...answer, text, segments: saysAll(judged, text) ? judged.map(withoutTokens) : asOne(segments, text) };
}

const textOf = (segment: JsonValue) => (isObject(segment) && typeof segment.text === 'string' ? segment.text : '');
const squeezed = (text: string) => text.replace(/\s/g, '');
const saysAll = (segments: readonly JsonValue[], text: string) =>
  squeezed(segments.map(textOf).join('')) === squeezed(text);

/** A model's token numbers repeat the text. */
function withoutTokens(segment: JsonValue): JsonValue {
  if (!isObject(segment)) return segment;
  const { tokens: _tokens, ...rest } = segment;
  return rest;
}

/** A rule may change the whole text as no single segment shows it. */
function asOne(segments: readonly JsonValue[], text: string): JsonObject[] {
  const timed = segments.filter(isObject);
  return [{ id: 0, start: timed[0]?.start ?? 0, end: timed.at(-1)?.end ?? 0, text }];
}
