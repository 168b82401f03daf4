// Native requests and answers: the gateway knows the positions of texts, but not all fields.
import { isObject, type JsonObject, type JsonValue } from '../../chat/json';
import { hasLostNames } from '../../chat/lost-names';
import { invalidRequest } from '../../errors/gateway-error';
import type { GuardrailPart } from '../policy';
import type { RequestGuard } from '../request-guard';
import { withoutTokens } from './guard-response';
import { GuardedTexts } from './guard-texts';
import { NO_PIECES, type Pieces, replaceTexts } from './string-tree';

const SYSTEM = ['system', 'instructions', 'systemInstruction', 'system_instruction'] as const;
const TURNS = ['messages', 'contents', 'input'] as const;
const PROMPTS = ['prompt', 'suffix', 'input', 'inputText', 'content'] as const;
/** Fields with text of a speaker, at any depth. */
const SAID: ReadonlySet<string> = new Set([
  ...['text', 'content', 'parts', 'thinking', 'reasoning_content', 'reasoning', 'refusal', 'output', 'summary'],
  ...['result', 'response', 'message', 'transcript', 'output_text', 'functionResponse', 'toolResult', 'json'],
  ...['executableCode', 'codeExecutionResult', 'code'],
]);
const PART_OF_ROLE: Readonly<Record<string, GuardrailPart>> = {
  ...{ system: 'system', developer: 'system', assistant: 'assistant', model: 'assistant' },
  ...{ tool: 'tool_results', function: 'tool_results', function_call_output: 'tool_results' },
};

/** A judged native request; the same object if clean. Throws `guardrail_blocked`. */
export async function guardNativeRequest(guard: RequestGuard, body: JsonObject): Promise<JsonObject> {
  if (!guard.guardrails.asksInput) return body;
  const texts = new GuardedTexts(guard, 'input');
  for (const name of SYSTEM) await texts.texts(saidIn(body[name]), 'system');
  for (const name of TURNS) {
    const turns = body[name];
    for (const turn of Array.isArray(turns) ? turns : []) await guardTurn(texts, turn);
  }
  for (const name of PROMPTS) await guardPrompts(texts, name, body[name]);
  await guardCalls(texts, body);
  return texts.value(body);
}

async function guardTurn(texts: GuardedTexts, turn: JsonValue): Promise<void> {
  if (!isObject(turn)) return;
  const role = typeof turn.role === 'string' ? turn.role : turn.type;
  const part = (typeof role === 'string' ? PART_OF_ROLE[role] : undefined) ?? 'user';
  await texts.texts(saidIn(turn), part);
}

async function guardPrompts(texts: GuardedTexts, name: string, value: JsonValue | undefined): Promise<void> {
  const prompts = Array.isArray(value) ? value : [value];
  for (const prompt of prompts) {
    if (typeof prompt === 'string') await texts.text(prompt, 'user');
    const isTokens = typeof prompt === 'number' || (Array.isArray(prompt) && typeof prompt[0] === 'number');
    if (isTokens) throw invalidRequest(name, `The guardrails of this project can't read tokens: send ${name} as text.`);
  }
}

/** Judges tool arguments anywhere. */
async function guardCalls(texts: GuardedTexts, value: JsonValue | undefined, name = ''): Promise<void> {
  if (Array.isArray(value)) for (const one of value) await guardCalls(texts, one, name);
  else if (isObject(value)) {
    for (const [key, one] of Object.entries(value))
      if (!texts.pieces.has(value, key)) await guardCalls(texts, one, key);
  } else if (name === 'arguments' && typeof value === 'string') await texts.json(value, 'tool_arguments');
}

function saidIn(value: JsonValue | undefined, found: string[] = [], pieces: Pieces = NO_PIECES): string[] {
  if (typeof value === 'string') found.push(value);
  else if (Array.isArray(value)) for (const one of value) saidIn(one, found, pieces);
  else if (isObject(value)) {
    for (const [key, one] of Object.entries(value))
      if (SAID.has(key) && !pieces.has(value, key)) saidIn(one, found, pieces);
  }
  return found;
}

/** A judged native answer. `texts`: of its stream, whose pieces are judged already. */
export async function guardNativeAnswer(
  guard: RequestGuard,
  body: JsonValue,
  texts: GuardedTexts = new GuardedTexts(guard, 'output'),
): Promise<JsonValue> {
  for (const choice of answersIn(body)) await texts.texts(saidIn(choice, [], texts.pieces), 'assistant');
  await guardCalls(texts, body);
  const { acts, asksOutput } = guard.guardrails;
  const judged = await texts.value(acts && asksOutput ? withoutTokens(body) : body);
  return guard.hasPseudonyms ? replaceTexts(judged, (text) => guard.restore(text)) : judged;
}

/** True if a reader may see text that the parsed value lacks, so that the answer must be encoded again. */
export const hasUnjudgedNames = async (
  { guardrails }: RequestGuard,
  text: string,
  value: JsonValue,
): Promise<boolean> => guardrails.actsOnOutput && (await hasLostNames(text, value));

function answersIn(body: JsonValue): readonly JsonValue[] {
  if (!isObject(body)) return Array.isArray(body) ? body : [];
  const lists = [body.choices, body.candidates, body.output];
  const listed = lists.flatMap((list) => (Array.isArray(list) ? list : []));
  return [...listed, ...(Array.isArray(body.content) ? [{ content: body.content }] : [])];
}
