import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatMessage, ChatRequest, TextPrompt } from '@llm0/core/chat/request';
import { decodeRequest } from '../openai-chat/decode-request';
import { checkDepth, decodeModel, invalid, present, readBoolean, readNumber, readString } from '../read-fields';
import { OUTPUT_LIMIT } from '../shared-fields';
import { decodePrompts } from './decode-prompts';

const LOGPROBS = { min: 0, max: 100, integer: true } as const;
const BEST_OF = { min: 1, max: 128, integer: true } as const;
const LIMIT = { ...OUTPUT_LIMIT, min: 0 } as const;
/** Fields that chat does not have, or has otherwise. */
const OWN_FIELDS = ['prompt', 'suffix', 'echo', 'best_of', 'logprobs', 'top_logprobs', 'messages'] as const;

/**
 * Decodes a Completions body. Chat Completions decodes the common fields. Source:
 * https://platform.openai.com/docs/api-reference/completions/create
 */
export function decodeCompletionRequest(body: JsonObject): ChatRequest {
  checkDepth(body);
  decodeModel(body.model);
  if (body.prompt == null && body.messages != null) {
    throw invalid('prompt', '"prompt" is missing. Conversations ("messages") go to /v1/chat/completions.');
  }
  const prompts = decodePrompts(body.prompt);
  const logprobs = readLogprobs(body);
  const bestOf = readNumber(body, 'best_of', BEST_OF);
  const limit = readNumber(body, 'max_tokens', LIMIT);
  const chat: JsonObject = { ...body };
  for (const name of OWN_FIELDS) delete chat[name];
  if (logprobs !== undefined)
    Object.assign(chat, { logprobs: true, ...(logprobs > 0 ? { top_logprobs: logprobs } : {}) });
  const shared = decodeRequest({ ...chat, max_tokens: limit || null, messages: [STAND_IN] });
  if (bestOf !== undefined && bestOf < (shared.n ?? 1))
    throw invalid('best_of', '"best_of" must not be less than "n".');
  const prompt: TextPrompt = present({
    ...{ prompts, bestOf, logprobs, chat },
    suffix: readString(body, 'suffix'),
    echo: readBoolean(body, 'echo'),
  });
  return {
    ...shared,
    ...(limit === 0 ? { maxOutputTokens: 0 } : {}),
    messages: prompts.map(messageOf),
    prompt,
    wire: { format: 'openai-completions', body },
  };
}

const STAND_IN: JsonObject = { role: 'user', content: '' };

const messageOf = (text: TextPrompt['prompts'][number]): ChatMessage => ({
  role: 'user',
  content: typeof text === 'string' ? [{ type: 'text', text }] : [],
});

/** A count; some clients send chat's boolean. */
function readLogprobs(body: JsonObject): number | undefined {
  if (typeof body.logprobs !== 'boolean') return readNumber(body, 'logprobs', LOGPROBS);
  return body.logprobs ? (readNumber(body, 'top_logprobs', LOGPROBS) ?? 0) : undefined;
}
