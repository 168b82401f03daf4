import type { OpenAPIHono } from '@hono/zod-openapi';
import type { AdminEnv } from '../admin-services';

const ERROR_SCHEMA = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'code', 'param'],
      properties: {
        message: { type: 'string' },
        type: { type: 'string' },
        code: { type: 'string' },
        param: { type: ['string', 'null'] },
        retry_after: { type: 'integer', description: 'Seconds' },
      },
    },
  },
};

const CONDITIONAL = new Set(['patch', 'put', 'delete']);
const IF_MATCH = {
  name: 'If-Match',
  in: 'header' as const,
  required: false,
  schema: { type: 'string' as const },
  description: '`ETag` of the version you read; a newer version gets 412 with the current object',
};

const INFO = {
  title: 'LLM0 Gateway admin API',
  description:
    'Amounts of money are exact JSON numbers in USD with at most 9 decimals; requests may send them as text. Times are RFC 3339 UTC. An omitted or null limit is no limit.',
};

/** The OpenAPI 3.1 document, made from the routes' own schemas; every operation can also answer with the error envelope. */
export function buildOpenApi(api: Pick<OpenAPIHono<AdminEnv>, 'getOpenAPI31Document'>, version: string): object {
  const document = api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { ...INFO, version },
    servers: [{ url: '/admin/v1' }],
    security: [{ adminToken: [] }],
  });
  for (const path of Object.values(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(path)) {
      if (typeof operation !== 'object' || operation === null || !('responses' in operation)) continue;
      Object.assign(operation.responses, { default: { $ref: '#/components/responses/Error' } });
      if (!CONDITIONAL.has(method)) continue;
      operation.parameters = [...(operation.parameters ?? []), IF_MATCH];
      Object.assign(operation.responses, { 412: { $ref: '#/components/responses/ChangedMeanwhile' } });
    }
  }
  addExportFormats(document.paths?.['/logs']?.get?.responses?.['200']);
  return {
    ...document,
    components: {
      ...document.components,
      securitySchemes: { adminToken: { type: 'http', scheme: 'bearer', description: 'ADMIN_TOKEN or a named token' } },
      schemas: { ...document.components?.schemas, Error: ERROR_SCHEMA },
      responses: {
        ChangedMeanwhile: {
          description: 'The object changed since you read it; `current` has the new version, `ETag` its tag',
          content: {
            'application/json': {
              schema: {
                ...ERROR_SCHEMA,
                properties: { ...ERROR_SCHEMA.properties, current: { type: ['object', 'null'] } },
              },
            },
          },
        },
        Error: {
          description: 'The problem and the next step',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
    },
  };
}

/** Export formats of `GET /logs` stay outside its schema, so the typed client only sees JSON. */
function addExportFormats(response: { content?: object } | undefined): void {
  if (response?.content === undefined) return;
  const file = { schema: { type: 'string' } };
  Object.assign(response.content, { 'text/csv': file, 'application/x-ndjson': file });
}
