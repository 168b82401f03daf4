import { MODEL_FILTERS } from '../pipeline/describe-model';
import { answers, type Operation, type Part, type Paths, schemaRef } from './document-parts';
import { FILE_PATHS } from './file-paths';
import { CHAT_HEADERS, ROW_HEADERS } from './request-headers';
import { TASK_PATHS } from './task-paths';

const path = (name: string, description: string, schema: Part = { type: 'string' }): Part => ({
  ...{ name, in: 'path', required: true, schema, description },
});
const MODEL_ID = path('model', "A model's name, which may have slashes");
const RESPONSE_ID = path('response_id', "An answer's id");
const ALIAS = path('alias', "An MCP server's alias; `code` is Code Mode");

const chat = (operation: Omit<Operation, 'tag' | 'takes'>): Operation => ({
  tag: 'chat',
  takes: CHAT_HEADERS,
  ...operation,
});

const gemini = (id: string, summary: string, answer: Operation['answer']): Operation => ({
  ...{ id, tag: 'gemini', summary, body: schemaRef('GeminiRequest'), answer, error: 'GeminiError' },
  ...{
    parameters: [
      MODEL_ID,
      {
        name: 'key',
        in: 'query',
        required: false,
        schema: { type: 'string' },
        description: "API key in this format's style; a header is safer",
      },
    ],
  },
  takes: ROW_HEADERS,
});
const geminiCalls = (version: string, suffix: string): Paths => ({
  [`/${version}/models/{model}:generateContent`]: {
    post: gemini(`generateContent${suffix}`, "Answer in Gemini's own format", answers('GeminiResponse', 'The answer')),
  },
  [`/${version}/models/{model}:streamGenerateContent`]: {
    post: gemini(
      `streamGenerateContent${suffix}`,
      'The same as a stream',
      answers('GeminiResponse', 'A list of chunks', 'With `alt=sse`: one chunk an event'),
    ),
  },
  [`/${version}/models/{model}:countTokens`]: {
    post: gemini(`countTokens${suffix}`, 'Count tokens, free', answers('GeminiCount', 'The count')),
  },
});

const mcp = (suffix: string, parameters: readonly Part[]): Readonly<Record<string, Operation>> => {
  const shared = { tag: 'mcp', parameters, error: 'RpcError', takes: ROW_HEADERS };
  const described = 'The Model Context Protocol, 2026-07-28 and the revisions with sessions before it.';
  return {
    post: {
      ...shared,
      id: `mcpPost${suffix}`,
      summary: 'Send a message: list or call tools, read resources, get prompts',
      description: described,
      body: schemaRef('RpcMessage'),
      answer: answers(
        'RpcAnswer',
        'The result, or what failed behind the gateway',
        'Progress, requests to the client, then the result',
      ),
    },
    get: {
      ...shared,
      id: `mcpListen${suffix}`,
      summary: 'Listen for news (clients with sessions)',
      answer: answers('RpcAnswer', 'An error', 'Notifications'),
    },
    delete: {
      ...shared,
      id: `mcpEnd${suffix}`,
      summary: 'End a session (clients with sessions)',
      answer: { description: 'Ended', schema: {} },
    },
  };
};

const native = (method: string): Operation => ({
  id: `passthrough${method}`,
  tag: 'passthrough',
  summary: "A vendor's own API, for keys whose project names the vendor (`passthrough`)",
  parameters: [path('provider', 'The vendor'), path('path', "The path at the vendor's base URL")],
  takes: ROW_HEADERS,
  ...(method === 'Get' || method === 'Delete' ? {} : { body: {} }),
  answer: { description: "The provider's answer, unchanged", schema: {} },
});

/** The methods of plain HTTP backends; OPTIONS is one too. */
const INFER_METHODS = ['Get', 'Head', 'Post', 'Put', 'Patch', 'Delete', 'Options'] as const;

const infer = (method: (typeof INFER_METHODS)[number]): Operation => ({
  id: `infer${method}`,
  tag: 'infer',
  summary:
    'A plain HTTP service of the operator (`/admin/v1/backends`); answers to GET may come from the cache (`X-Cache`)',
  parameters: [path('backend', "The backend's name"), path('path', 'The path at its base URL')],
  takes: [...ROW_HEADERS, 'Cache', 'CacheControl'],
  ...(['Get', 'Head', 'Options'].includes(method) ? {} : { body: {} }),
  answer: { description: "The backend's answer, unchanged", schema: {} },
});

const probe = (id: string, summary: string, schema: string): Operation => ({
  ...{ id, tag: 'probes', summary, isOpen: true, answer: answers(schema, 'As it is') },
});
const readiness = (id: string, summary: string): Operation => ({
  ...probe(id, summary, 'Ready'),
  unavailable: 'It takes no requests: it drains, or has not reached its stores yet',
});

/** Every endpoint of the data plane; the app's own routes are compared with it by a test. */
export const DATA_PLANE_PATHS: Paths = {
  '/v1/chat/completions': {
    post: chat({
      id: 'createChatCompletion',
      summary: 'Answer a conversation, by any model',
      body: schemaRef('ChatCompletionRequest'),
      answer: answers('ChatCompletion', 'The answer', 'Chunks (`ChatCompletionChunk`), then `data: [DONE]`'),
    }),
  },
  '/v1/completions': {
    post: chat({
      id: 'createCompletion',
      summary: 'Continue a text',
      body: schemaRef('CompletionRequest'),
      answer: answers('Completion', 'The continuation', 'Chunks, then `data: [DONE]`'),
    }),
  },
  '/v1/responses': {
    post: chat({
      id: 'createResponse',
      summary: "Answer in the format of OpenAI's Responses API, by any model",
      body: schemaRef('ResponseRequest'),
      answer: answers('Response', 'The answer', "The format's own events"),
    }),
  },
  '/v1/responses/{response_id}': {
    get: {
      id: 'getResponse',
      tag: 'chat',
      summary: 'Read a kept answer of the same key and customer',
      parameters: [RESPONSE_ID],
      answer: answers('Response', 'The answer'),
    },
    delete: {
      id: 'deleteResponse',
      tag: 'chat',
      summary: 'Forget a kept answer',
      parameters: [RESPONSE_ID],
      answer: answers('ResponseDeleted', 'Deleted'),
    },
  },
  '/v1/responses/{response_id}/input_items': {
    get: {
      id: 'listInputItems',
      tag: 'chat',
      summary: 'List the input items of a stored answer',
      parameters: [RESPONSE_ID],
      answer: answers('ResponseInputItems', 'Items'),
    },
  },
  '/v1/responses/{response_id}/cancel': {
    post: {
      id: 'cancelResponse',
      tag: 'chat',
      summary: 'Refused: answers are not made in the background',
      parameters: [RESPONSE_ID],
      answer: answers('Response', 'Never'),
    },
  },
  '/v1/messages': {
    post: chat({
      id: 'createMessage',
      summary: "Answer in the format of Anthropic's Messages API, by any model",
      body: schemaRef('MessageRequest'),
      error: 'MessagesError',
      answer: answers('Message', 'The answer', "The format's own events"),
    }),
  },
  '/v1/messages/count_tokens': {
    post: chat({
      id: 'countMessageTokens',
      summary: 'Count the tokens of a conversation, free',
      body: schemaRef('CountRequest'),
      error: 'MessagesError',
      answer: answers('Count', 'The count'),
    }),
  },
  '/v1/embeddings': {
    post: {
      id: 'createEmbeddings',
      tag: 'embeddings',
      summary: 'Embed texts; those that are known come from the cache',
      takes: CHAT_HEADERS,
      body: schemaRef('EmbeddingRequest'),
      answer: answers('Embeddings', 'Vectors in the order of the inputs'),
    },
  },
  ...TASK_PATHS,
  ...FILE_PATHS,
  '/v1/models': {
    get: {
      id: 'listModels',
      tag: 'models',
      summary: "List what this key may call; with `anthropic-version` in Anthropic's format",
      parameters: Object.entries(MODEL_FILTERS).map(([name, { description }]) => ({
        ...{ name, in: 'query', required: false, schema: { type: 'string' }, description },
      })),
      answer: answers('Models', 'Models and aliases'),
    },
  },
  '/v1/models/{model}': {
    get: {
      id: 'getModel',
      tag: 'models',
      summary: 'Show one of them',
      parameters: [MODEL_ID],
      answer: answers('Model', 'The model'),
    },
  },
  ...geminiCalls('v1beta', ''),
  ...geminiCalls('v1', 'V1'),
  '/passthrough/{provider}/{path}': Object.fromEntries(
    ['Get', 'Post', 'Put', 'Patch', 'Delete'].map((method) => [method.toLowerCase(), native(method)]),
  ),
  '/infer/{backend}/{path}': Object.fromEntries(INFER_METHODS.map((method) => [method.toLowerCase(), infer(method)])),
  '/mcp': mcp('', []),
  '/mcp/{alias}': mcp('Of', [ALIAS]),
  '/livez': { get: probe('livez', 'Whether the process runs', 'Alive') },
  '/readyz': { get: readiness('readyz', 'Whether it takes requests') },
  '/live': { get: probe('live', 'As `/livez`', 'Alive') },
  '/ready': { get: readiness('ready', 'As `/readyz`') },
  '/openapi.json': {
    get: {
      id: 'describe',
      tag: 'probes',
      summary: 'This document',
      isOpen: true,
      answer: { description: 'OpenAPI 3.1', schema: { type: 'object' } },
    },
  },
};
