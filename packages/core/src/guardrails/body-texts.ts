import { isObject, type JsonValue } from '../chat/json';
import type { GuardrailPart } from './policy';

/** A text of a stored body with its position. */
export interface BodyText {
  readonly text: string;
  readonly part: GuardrailPart;
}

const MOST_TEXTS = 500;
const MOST_DEPTH = 40;

/** Part of a conversation by field name, in any body format. */
const PARTS: Readonly<Record<string, GuardrailPart>> = {
  ...{ system: 'system', instructions: 'system', systemInstruction: 'system', system_instruction: 'system' },
  ...{ prompt: 'user', query: 'user', arguments: 'tool_arguments', args: 'tool_arguments' },
  ...{ functionResponse: 'tool_results', function_response: 'tool_results' },
};
const ROLES: Readonly<Record<string, GuardrailPart>> = {
  ...{ system: 'system', developer: 'system', user: 'user', assistant: 'assistant', model: 'assistant' },
  ...{ tool: 'tool_results', function: 'tool_results' },
};
const TYPES: Readonly<Record<string, GuardrailPart>> = {
  ...{ tool_result: 'tool_results', function_call_output: 'tool_results', tool_use: 'tool_arguments' },
  ...{ function_call: 'tool_arguments' },
};
/** Parameters without content. */
const APART: ReadonlySet<string> = new Set([
  ...['model', 'id', 'object', 'type', 'role', 'name', 'finish_reason', 'stop_reason', 'tool_call_id', 'call_id'],
  ...['tool_use_id', 'tools', 'tool_choice', 'response_format', 'metadata', 'usage', 'created', 'system_fingerprint'],
]);

/** Texts of a stored request or answer by position; at most 500. */
export function bodyTexts(body: JsonValue, part: GuardrailPart): readonly BodyText[] {
  const texts: BodyText[] = [];
  const walk = (value: JsonValue | undefined, at: GuardrailPart, depth: number): void => {
    if (texts.length >= MOST_TEXTS || depth > MOST_DEPTH) return;
    if (typeof value === 'string') {
      if (value !== '') texts.push({ text: value, part: at });
      return;
    }
    if (Array.isArray(value)) for (const one of value) walk(one, at, depth + 1);
    else if (isObject(value)) {
      const own = TYPES[String(value.type)] ?? ROLES[String(value.role)] ?? at;
      for (const [name, field] of Object.entries(value))
        if (!APART.has(name)) walk(field, PARTS[name] ?? own, depth + 1);
    }
  };
  walk(body, part, 0);
  return texts;
}
