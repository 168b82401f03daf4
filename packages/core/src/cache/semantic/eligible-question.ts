import type { ChatRequest } from '../../chat/request';
import { MAX_EMBEDDED_CHARACTERS } from '../../embedding/embedder';
import { canonicalText } from '../cache-key';

/** Reasons why a request can't match other wordings. A closed list of metric labels. */
export type IneligibleReason = 'no_question' | 'media' | 'too_long';

export interface EligibleQuestion {
  /** The last user turn: the one part that may be worded otherwise. */
  readonly text: string;
  /** Everything but that text, which has to match exactly, as one canonical text. */
  readonly context: string;
}

/** The request's question and its surroundings, or why there is none. `scope`: the route it takes. */
export function readEligibleQuestion(scope: string, request: ChatRequest): EligibleQuestion | IneligibleReason {
  if (request.digest !== undefined) return 'too_long';
  const last = request.prompt === undefined ? request.messages.at(-1) : undefined;
  if (last === undefined || last.role !== 'user') return 'no_question';
  const texts: string[] = [];
  for (const part of last.content) {
    if (part.type !== 'text') return 'media';
    texts.push(part.text);
  }
  const text = texts.join('\n').trim();
  if (!/[\p{L}\p{N}]/u.test(text)) return 'no_question';
  if (text.length > MAX_EMBEDDED_CHARACTERS) return 'too_long';
  const shape = last.content.map((part) => ({ ...part, text: '' }));
  const rest: ChatRequest = { ...request, messages: [...request.messages.slice(0, -1), { ...last, content: shape }] };
  return { text, context: `${scope}\n${canonicalText(rest)}` };
}
