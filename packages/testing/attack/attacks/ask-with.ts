import type { AttackContext } from '../attack';

/** A request to one of the gateway's APIs. */
export interface Asked {
  readonly path: string;
  readonly body: Record<string, unknown>;
}

/** How each API is asked something; the model is one that its vendor prices. */
export const APIS = {
  chat: (text: string): Asked => ({
    path: '/v1/chat/completions',
    body: { model: 'gpt-4o-mini', max_tokens: 100, messages: [{ role: 'user', content: text }] },
  }),
  completions: (text: string): Asked => ({
    path: '/v1/completions',
    body: { model: 'gpt-4o-mini', max_tokens: 100, prompt: text },
  }),
  messages: (text: string): Asked => ({
    path: '/v1/messages',
    body: { model: 'claude-haiku-4-5', max_tokens: 100, messages: [{ role: 'user', content: text }] },
  }),
  responses: (text: string): Asked => ({
    path: '/v1/responses',
    body: { model: 'gpt-4o-mini', max_output_tokens: 100, input: text },
  }),
  embeddings: (text: string): Asked => ({
    path: '/v1/embeddings',
    body: { model: 'text-embedding-3-small', input: text },
  }),
  gemini: (text: string): Asked => ({
    path: '/v1beta/models/gemini-2.5-flash:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text }] }], generationConfig: { maxOutputTokens: 100 } },
  }),
  count: (text: string): Asked => ({
    path: '/v1/messages/count_tokens',
    body: { model: 'claude-haiku-4-5', messages: [{ role: 'user', content: text }] },
  }),
  passthrough: (text: string): Asked => ({
    path: '/passthrough/openai/v1/chat/completions',
    body: { model: 'gpt-4o-mini', max_tokens: 100, messages: [{ role: 'user', content: text }] },
  }),
} as const;
export type Api = keyof typeof APIS;
export const API_NAMES = Object.keys(APIS) as Api[];

/** Passing through is off unless a project says otherwise. */
export const MAY_PASS_THROUGH = {
  passthrough: ['openai', 'anthropic', 'gemini', 'openrouter', 'groq', 'ollama'],
};

/** Sends one request to an API, some of its fields replaced. */
export function ask(
  { send }: Pick<AttackContext, 'send'>,
  api: Api,
  text: string,
  options: { readonly more?: object; readonly headers?: Record<string, string>; readonly leaveAfterMs?: number } = {},
) {
  const { path, body } = APIS[api](text);
  const { more, ...rest } = options;
  return send(path, { ...rest, body: { ...body, ...more } });
}

export const MEGABYTE = 1_000_000;

/** So many characters of a piece said again and again. */
export const fill = (piece: string, length: number): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
