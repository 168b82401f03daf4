import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatMessage, ChatRequest, WireRequest } from '@llm0/core/chat/request';
import type { ChatResponse } from '@llm0/core/chat/response';
import type { AnswerRefused } from '@llm0/core/guardrails/refusals';

interface Turn {
  readonly role: 'assistant' | 'user';
  readonly text: string;
}

/** Adds the refused answer and the reason to the conversation, never the find. Everything else stays. */
export function withRefusal(
  request: ChatRequest,
  { rule, reason }: AnswerRefused,
  { choices }: ChatResponse,
): ChatRequest {
  if (request.prompt !== undefined) return request;
  const said = choices[0]?.text ?? '';
  const why = reason === undefined ? '' : ` (${reason})`;
  const text = `The rule "${rule.name}" refused your answer${why}. Answer again, and follow the rule.`;
  const answer: readonly Turn[] = said === '' ? [] : [{ role: 'assistant', text: said }];
  const turns: readonly Turn[] = [...answer, { role: 'user', text }];
  const { wire, ...rest } = request;
  const messages = [...request.messages, ...turns.map(messageOf)];
  const written = wire && withTurns(wire, turns);
  return written === undefined ? { ...rest, messages } : { ...rest, messages, wire: written };
}

const messageOf = ({ role, text }: Turn): ChatMessage => ({ role, content: [{ type: 'text', text }] });
const plainTurn = ({ role, text }: Turn): JsonObject => ({ role, content: text });
const geminiTurn = ({ role, text }: Turn): JsonObject => ({
  role: role === 'assistant' ? 'model' : 'user',
  parts: [{ text }],
});

/** Turns of each format, and their encoding. */
const TURNS = [
  ['messages', plainTurn],
  ['input', plainTurn],
  ['contents', geminiTurn],
] as const;

/** The original body with more turns; undefined for unknown formats. */
function withTurns(wire: WireRequest, turns: readonly Turn[]): WireRequest | undefined {
  for (const [name, write] of TURNS) {
    const given = wire.body[name];
    const before = typeof given === 'string' ? [{ role: 'user', content: given }] : given;
    if (!Array.isArray(before)) continue;
    const all: JsonValue[] = [...before, ...turns.map(write)];
    return { ...wire, body: { ...wire.body, [name]: all } };
  }
  return undefined;
}
