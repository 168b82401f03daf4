import { afterAll, afterEach, beforeAll } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { argumentsOf } from '../guardrails/planted';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
export const VENDORS = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-haiku-4-5-20251001',
  gemini: 'gemini-2.5-flash',
  bedrock: 'bedrock/anthropic.claude-3-5-haiku-20241022-v1:0',
} as const;
export type Vendor = keyof typeof VENDORS;

const CHECKS = [
  { name: 'pii', check: { type: 'pii', kinds: ['email', 'card'] } },
  { name: 'secrets', check: { type: 'secrets' } },
] as const;
export const rulesOf = (action: string, on = 'both') => CHECKS.map((rule) => ({ ...rule, on, action }));

export interface Route {
  readonly path: (vendor: Vendor, stream: boolean) => string;
  readonly vendors: readonly Vendor[];
  body(model: string, content: JsonObject, stream: boolean): JsonObject;
}

/** A conversation that says something in one part of it. */
export type Part = 'system' | 'user' | 'assistant' | 'tool_arguments' | 'tool_results' | 'unknown';

const tool = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } };

/** Chat Completions: messages of which `part` says `text`. */
function chatMessages(part: Part, text: string): JsonObject[] {
  const call = (args: string) => ({ id: 'call_1', type: 'function', function: { name: 'look', arguments: args } });
  return [
    { role: 'system', content: part === 'system' ? text : 'Be brief.' },
    { role: 'user', content: part === 'user' ? [{ type: 'text', text }] : 'Hello.' },
    {
      role: 'assistant',
      content: part === 'assistant' ? text : 'Looking.',
      tool_calls: [call(part === 'tool_arguments' ? argumentsOf(text) : '{}')],
    },
    { role: 'tool', tool_call_id: 'call_1', content: part === 'tool_results' ? argumentsOf(text) : 'Nothing.' },
    { role: 'user', content: 'Go on.' },
  ];
}

export function anthropicBody(part: Part, text: string): JsonObject {
  const input: JsonObject = part === 'tool_arguments' ? { text, more: { list: [text] } } : {};
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: part === 'tool_results' ? text : 'Nothing.' };
  return {
    system: part === 'system' ? text : 'Be brief.',
    messages: [
      { role: 'user', content: part === 'user' ? text : 'Hello.' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: part === 'assistant' ? text : 'Looking.' },
          { type: 'tool_use', id: 'toolu_1', name: 'look', input },
        ],
      },
      { role: 'user', content: [result] },
    ],
    tools: [{ name: 'look', description: 'Looks.', input_schema: tool.parameters }],
  };
}

function responsesBody(part: Part, text: string): JsonObject {
  return {
    instructions: part === 'system' ? text : 'Be brief.',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: part === 'user' ? text : 'Hello.' }] },
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: part === 'assistant' ? text : 'Looking.' }],
      },
      {
        type: 'function_call',
        call_id: 'call_1',
        name: 'look',
        arguments: part === 'tool_arguments' ? argumentsOf(text) : '{}',
      },
      { type: 'function_call_output', call_id: 'call_1', output: part === 'tool_results' ? argumentsOf(text) : 'No.' },
    ],
    tools: [{ type: 'function', ...tool }],
  };
}

function geminiBody(part: Part, text: string): JsonObject {
  const args: JsonObject = part === 'tool_arguments' ? { text } : {};
  return {
    systemInstruction: { parts: [{ text: part === 'system' ? text : 'Be brief.' }] },
    contents: [
      { role: 'user', parts: [{ text: part === 'user' ? text : 'Hello.' }] },
      {
        role: 'model',
        parts: [{ text: part === 'assistant' ? text : 'Looking.' }, { functionCall: { name: 'look', args } }],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'look', response: { out: part === 'tool_results' ? text : 'No.' } } }],
      },
    ],
  };
}

export const ALL_VENDORS = Object.keys(VENDORS) as Vendor[];
export const ROUTES: Readonly<Record<string, Route>> = {
  '/v1/chat/completions': {
    path: () => '/v1/chat/completions',
    vendors: ALL_VENDORS,
    body: (model, content, stream) => ({ model, stream, ...content }),
  },
  '/v1/messages': {
    path: () => '/v1/messages',
    vendors: ALL_VENDORS,
    body: (model, content, stream) => ({ model, stream, max_tokens: 4000, ...content }),
  },
  '/v1/responses': {
    path: () => '/v1/responses',
    vendors: ALL_VENDORS,
    body: (model, content, stream) => ({ model, stream, ...content }),
  },
  '/v1beta/models': {
    path: (vendor, stream) =>
      `/v1beta/models/${VENDORS[vendor]}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    vendors: ['gemini'],
    body: (_model, content) => content,
  },
  '/passthrough/openai': {
    path: () => '/passthrough/openai/v1/chat/completions',
    vendors: ['openai'],
    body: (model, content, stream) => ({ model, stream, ...content }),
  },
  '/passthrough/anthropic': {
    path: () => '/passthrough/anthropic/v1/messages',
    vendors: ['anthropic'],
    body: (model, content, stream) => ({ model, stream, max_tokens: 4000, ...content }),
  },
};
export const BODIES: Readonly<Record<string, (part: Part, text: string) => JsonObject>> = {
  '/v1/chat/completions': chatBody,
  '/v1/messages': anthropicBody,
  '/v1/responses': responsesBody,
  '/v1beta/models': geminiBody,
  '/passthrough/openai': chatBody,
  '/passthrough/anthropic': anthropicBody,
};
export const PARTS: readonly Part[] = ['system', 'user', 'assistant', 'tool_arguments', 'tool_results', 'unknown'];

export function chatBody(part: Part, text: string): JsonObject {
  return { messages: chatMessages(part, text), tools: [{ type: 'function', function: tool }] };
}

export const withUnknown = (body: JsonObject, part: Part, text: string): JsonObject =>
  part === 'unknown' ? { ...body, metadata: { note: text }, x_unknown: [{ deep: { [text]: text } }] } : body;

/** A project for the tests of this file, whose policy they set. */
export function useGuardrails(project: object = {}) {
  let world: TestEnvironment;
  let key: { readonly apiKey: string; readonly projectId: string };
  beforeAll(async () => {
    world = await shareEnvironment({ kind: 'real', env: { LLM0_TEST_FAILURES_PER_SECOND: '1000000' } });
    const given = { passthrough: ['openai', 'anthropic', 'gemini'], ...project };
    key = await createTestKey(world.gateway, { project: given });
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);
  afterEach(() => world.upstream.control.reset());

  const setPolicy = (policy: object) =>
    callAdmin(world.gateway, `/projects/${key.projectId}/guardrails`, { method: 'PUT', body: policy });
  return {
    world: () => world,
    apiKey: () => key.apiKey,
    setPolicy,
    enforce: (rules: readonly object[], more: object = {}) => setPolicy({ mode: 'enforce', rules, ...more }),
    post: (path: string, body: JsonObject, headers: Record<string, string> = {}) =>
      fetch(`${world.gateway.url}${path}`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${key.apiKey}`, 'content-type': 'application/json', 'x-llm0-cache': 'off' },
          ...{ 'anthropic-version': '2023-06-01', 'x-llm0-drop-params': 'true', ...headers },
        },
        body: JSON.stringify(body),
      }),
    /** What the vendor was asked last. */
    sentBody: () => JSON.stringify(world.upstream.requests.at(-1)?.body ?? null),
  };
}
