import type { JsonValue } from '@llm0/core/chat/json';
import type { Usage } from '@llm0/core/chat/usage';
import { asCounts } from '../../translation/read-json';
import { decodeUsage as decodeChatUsage } from '../decode-usage';

/** The same counts as in the vendor's other format, under other names. */
export function decodeUsage(value: JsonValue | undefined, serviceTier?: JsonValue): Usage | undefined {
  const usage = asCounts(value);
  if (usage === undefined) return undefined;
  return decodeChatUsage(
    {
      prompt_tokens: usage.input_tokens ?? 0,
      completion_tokens: usage.output_tokens ?? 0,
      total_tokens: usage.total_tokens ?? 0,
      prompt_tokens_details: usage.input_tokens_details ?? null,
      completion_tokens_details: usage.output_tokens_details ?? null,
    },
    serviceTier,
  );
}
