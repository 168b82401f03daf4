import type { DialectName, LogRecord } from '@llm0/core/logs/log-record';

/** The incoming HTTP request, by the conventions. */
export interface HttpFacts {
  readonly method: string;
  /** Path with placeholders, for few distinct values. */
  readonly route: string;
  readonly path: string;
}

interface Shape {
  readonly route: string;
  readonly operation: string;
}

/** Operation and route of a dialect by the conventions. */
const SHAPES = {
  'openai-chat': { route: '/v1/chat/completions', operation: 'chat' },
  'openai-responses': { route: '/v1/responses', operation: 'chat' },
  'openai-completions': { route: '/v1/completions', operation: 'text_completion' },
  'anthropic-messages': { route: '/v1/messages', operation: 'chat' },
  'openai-embeddings': { route: '/v1/embeddings', operation: 'embeddings' },
  'openai-moderations': { route: '/v1/moderations', operation: 'moderation' },
  'cohere-rerank': { route: '/v1/rerank', operation: 'rerank' },
  'openai-images': { route: '/v1/images/generations', operation: 'image_generation' },
  'openai-image-edits': { route: '/v1/images/edits', operation: 'image_generation' },
  'openai-decisions': { route: '/v1/decisions', operation: 'decision' },
  'openai-transcriptions': { route: '/v1/audio/transcriptions', operation: 'transcription' },
  'openai-translations': { route: '/v1/audio/translations', operation: 'transcription' },
  'openai-speech': { route: '/v1/audio/speech', operation: 'speech' },
  'openai-realtime': { route: '/v1/realtime', operation: 'realtime' },
  'openai-live': { route: '/v1/live/sessions', operation: 'realtime' },
  'gemini-live': { route: '/ws/{service}.BidiGenerateContent', operation: 'realtime' },
  'openai-files': { route: '/v1/files', operation: 'file' },
  'openai-batches': { route: '/v1/batches', operation: 'batch' },
  'anthropic-batches': { route: '/v1/messages/batches', operation: 'batch' },
  passthrough: { route: '/passthrough/{provider}/*', operation: 'passthrough' },
  infer: { route: '/infer/{backend}/*', operation: 'infer' },
} as const satisfies Record<DialectName, Shape>;

/** Operation names by the end of native paths. */
const OPERATIONS: Readonly<Record<string, string>> = {
  generateContent: 'generate_content',
  streamGenerateContent: 'generate_content',
  embedContent: 'embeddings',
  batchEmbedContents: 'embeddings',
  embeddings: 'embeddings',
  messages: 'chat',
  responses: 'chat',
  converse: 'chat',
  'converse-stream': 'chat',
};
const CHAT = '/chat/completions';

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const OTHER = '_OTHER';

type Came = Pick<LogRecord, 'dialect' | 'trace' | 'requestedModel'>;

/** The operation that a row was, as the conventions name it. */
export function operationOf({ dialect, trace }: Pick<Came, 'dialect' | 'trace'>): string {
  const { operation } = SHAPES[dialect];
  const path = dialect === 'passthrough' ? trace?.http?.path : undefined;
  if (path === undefined) return operation;
  if (path.endsWith(CHAT)) return 'chat';
  if (path.endsWith('/completions')) return 'text_completion';
  const last = lastNameOf(path);
  return Object.hasOwn(OPERATIONS, last) ? (OPERATIONS[last] ?? operation) : operation;
}

/** Text after the last colon, else after the last slash. */
const lastNameOf = (path: string): string => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf(':')) + 1);

/** Its HTTP request; without a mark, from its row. */
export function httpFactsOf(record: Came): HttpFacts {
  const { route } = SHAPES[record.dialect];
  const http = record.trace?.http;
  if (http === undefined) return { method: methodOf(record), route, path: route };
  const method = METHODS.has(http.method) ? http.method : OTHER;
  const isOwnPath = record.dialect === 'passthrough' && !http.path.startsWith('/passthrough/');
  return { method, route: (isOwnPath ? nativeRoute(http.path) : undefined) ?? route, path: http.path };
}

/** Bounds of incoming names. Methods are the listed ones, since callers can invent others. */
function nativeRoute(path: string): string | undefined {
  const [, version = '', models, call = ''] = path.split('/', 4);
  if (models !== 'models' || !call.includes(':')) return undefined;
  const name = lastNameOf(path);
  const known = Object.hasOwn(OPERATIONS, name) || name === 'countTokens' ? name : '{method}';
  return `/${/^v\d{1,2}(?:beta)?$/.test(version) ? version : '{version}'}/models/{model}:${known}`;
}

/** Rows of plain HTTP backends begin with the method. */
function methodOf({ dialect, requestedModel }: Came): string {
  if (dialect === 'infer') return /^[A-Z]{3,7}(?= )/.exec(requestedModel)?.[0] ?? OTHER;
  return dialect === 'passthrough' ? OTHER : 'POST';
}
