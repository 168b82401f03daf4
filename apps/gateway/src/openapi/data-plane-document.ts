import { CHAT_SCHEMAS } from './chat-schemas';
import { DATA_PLANE_PATHS } from './data-plane-paths';
import { json, type Operation, type Part } from './document-parts';
import { ERROR_SCHEMAS, ERROR_STATUSES, errorResponses, otherErrors } from './error-responses';
import { FILE_SCHEMAS } from './file-paths';
import { PARAMETERS, RESPONSE_HEADERS } from './request-headers';
import { TASK_SCHEMAS } from './task-schemas';
import { VENDOR_SCHEMAS } from './vendor-schemas';

const DESCRIPTION =
  "What clients call. Requests and answers are those of the vendors' own clients; fields that are not listed here reach " +
  'a vendor of the same format, and come from it. Errors say what is wrong and what to do, in the envelope of the format.';

/** Key header of each client format. */
const SECURITY = {
  bearer: { type: 'http', scheme: 'bearer', description: 'llm0_live_…' },
  anthropicKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  googleKey: { type: 'apiKey', in: 'header', name: 'x-goog-api-key' },
  azureKey: { type: 'apiKey', in: 'header', name: 'api-key' },
} as const;

const TAGS = [
  { name: 'chat', description: 'Conversations and texts' },
  { name: 'embeddings', description: 'Vectors' },
  { name: 'tasks', description: 'Images, moderation, reranking and decisions' },
  { name: 'files', description: 'Files, and batches of requests' },
  { name: 'models', description: 'Models of a key' },
  { name: 'gemini', description: "Gemini's own format, for Gemini's models" },
  { name: 'passthrough', description: 'Native APIs of providers' },
  { name: 'infer', description: 'Plain HTTP services of the operator' },
  { name: 'mcp', description: 'Tools, resources and prompts of MCP servers' },
  { name: 'probes', description: 'Probes for load balancers, and this document' },
];

/** The OpenAPI 3.1 document of the data plane. */
export function buildDataPlaneDocument(version: string): Part {
  const paths = Object.entries(DATA_PLANE_PATHS).map(([path, operations]) => [
    path,
    Object.fromEntries(Object.entries(operations).map(([method, operation]) => [method, describe(operation)])),
  ]);
  const headers = Object.entries(RESPONSE_HEADERS).map(([name, header]) => [headerKey(name), header]);
  return {
    openapi: '3.1.0',
    info: { title: 'LLM0 Gateway', description: DESCRIPTION, version, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    security: Object.keys(SECURITY).map((name) => ({ [name]: [] })),
    tags: TAGS,
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: SECURITY,
      parameters: PARAMETERS,
      headers: Object.fromEntries(headers),
      responses: errorResponses(),
      schemas: { ...CHAT_SCHEMAS, ...TASK_SCHEMAS, ...FILE_SCHEMAS, ...VENDOR_SCHEMAS, ...ERROR_SCHEMAS },
    },
  };
}

const headerKey = (name: string) => name.replaceAll('-', '');

function describe(operation: Operation): Part {
  const {
    id,
    tag,
    summary,
    description,
    body,
    isForm,
    jsonBody,
    answer,
    takes = [],
    parameters = [],
    error = 'Error',
    isOpen,
    unavailable,
  } = operation;
  const errors = ERROR_STATUSES.map(
    (status) => [status, { $ref: `#/components/responses/${error}${status}` }] as const,
  );
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(isOpen === true ? { security: [] } : {}),
    parameters: [...parameters, ...takes.map((name) => ({ $ref: `#/components/parameters/${name}` }))],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: isForm
              ? { 'multipart/form-data': { schema: body }, ...(jsonBody === undefined ? {} : json(jsonBody)) }
              : json(body),
          },
        }),
    responses: {
      200: {
        description: answer.description,
        ...(isOpen === true ? {} : { headers: headerRefs() }),
        content: {
          ...(answer.type === undefined ? json(answer.schema) : { [answer.type]: { schema: answer.schema } }),
          ...(answer.stream === undefined
            ? {}
            : { 'text/event-stream': { schema: { type: 'string', description: answer.stream } } }),
        },
      },
      ...(unavailable === undefined ? {} : { 503: { description: unavailable, content: json(answer.schema) } }),
      ...(isOpen === true ? {} : { ...Object.fromEntries(errors), default: otherErrors(error) }),
    },
  };
}

const headerRefs = () =>
  Object.fromEntries(
    Object.keys(RESPONSE_HEADERS).map((name) => [name, { $ref: `#/components/headers/${headerKey(name)}` }]),
  );
