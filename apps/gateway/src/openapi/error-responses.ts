import { ERROR_TABLE } from '@llm0/core/errors/error-table';
import { arrayOf, COUNT, NUMBER, nullable, oneOfTexts, openObject, type Part, TEXT } from './document-parts';

/** Errors that no data plane request returns: those of the admin API, and those without a reader. */
const ELSEWHERE = new Set(['conflict', 'client_closed']);

const CODES = Object.entries(ERROR_TABLE).filter(([kind]) => !ELSEWHERE.has(kind));
export const ERROR_STATUSES: readonly number[] = [...new Set(CODES.map(([, { status }]) => status))].sort(
  (a, b) => a - b,
);

const codesOf = (status: number) => CODES.filter(([, row]) => row.status === status).map(([kind]) => kind);

const attempt = openObject({ provider: TEXT, model: TEXT, failure: TEXT, status: COUNT, latency_ms: NUMBER }, [
  'provider',
  'model',
  'failure',
  'latency_ms',
]);
const details = {
  code: oneOfTexts(...CODES.map(([kind]) => kind)),
  param: nullable('string', { description: 'The wrong field, or the scope of a limit' }),
  retry_after: { type: 'integer', minimum: 1, description: 'Seconds; also in `Retry-After`' },
  attempts: arrayOf(attempt, { description: 'Attempts, in order' }),
};

/** `components.schemas`: an envelope for each format. */
export const ERROR_SCHEMAS: Readonly<Record<string, Part>> = {
  Error: openObject(
    {
      error: openObject(
        { message: { type: 'string', description: 'The problem and the next step' }, type: TEXT, ...details },
        ['message', 'type', 'code', 'param'],
      ),
    },
    ['error'],
  ),
  MessagesError: openObject(
    {
      type: { const: 'error' },
      error: openObject({ type: TEXT, message: TEXT, ...details }, ['type', 'message', 'code', 'param']),
      request_id: nullable('string'),
    },
    ['type', 'error'],
  ),
  GeminiError: openObject(
    {
      error: openObject({ code: COUNT, message: TEXT, status: TEXT, details: arrayOf({ type: 'object' }) }, [
        'code',
        'message',
        'status',
      ]),
    },
    ['error'],
  ),
  RpcError: openObject(
    {
      jsonrpc: { const: '2.0' },
      id: { type: ['string', 'integer', 'null'] },
      error: openObject({ code: { type: 'integer' }, message: TEXT }, ['code', 'message']),
    },
    ['jsonrpc', 'error'],
  ),
};

const RETRYABLE = new Set([429, 503]);

/** `components.responses`: one for each envelope and status, made from the table the gateway itself answers by. */
export function errorResponses(): Record<string, Part> {
  const responses: Record<string, Part> = {};
  for (const schema of Object.keys(ERROR_SCHEMAS)) {
    for (const status of ERROR_STATUSES) {
      const retry = { 'Retry-After': { schema: COUNT, description: 'Seconds until a retry can succeed' } };
      responses[`${schema}${status}`] = {
        description: codesOf(status)
          .map((code) => `\`${code}\``)
          .join(', '),
        headers: { 'X-Request-Id': { schema: TEXT }, ...(RETRYABLE.has(status) ? retry : {}) },
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
      };
    }
  }
  return responses;
}

/** Statuses outside of the table: a vendor's refusal (422), a trickling body (408). */
export const otherErrors = (schema: string): Part => ({
  description: 'Any other error, in the same envelope',
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
});
