import { PARAMETERS, RESPONSE_HEADERS } from '@llm0/gateway/openapi/request-headers';
import { code, type ReferencePage, table } from './table';

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export function headersPage(): ReferencePage {
  const asked = Object.values(PARAMETERS).map(({ name, schema, description }) => [
    code(text(name)),
    valuesOf(schema),
    text(description),
  ]);
  const answered = Object.entries(RESPONSE_HEADERS).map(([name, { schema, description }]) => [
    code(name),
    valuesOf(schema),
    text(description),
  ]);
  return {
    title: 'Headers',
    purpose: 'Every header that the gateway reads from a request or adds to an answer.',
    body: [
      INTRO,
      `## Request headers\n\n${table(['header', 'values', 'meaning'], asked)}`,
      `## Response headers\n\n${table(['header', 'values', 'meaning'], answered)}`,
    ].join('\n\n'),
  };
}

const INTRO = `To skip the cache for one request, send \`X-LLM0-Cache: off\`.

- Any other \`X-LLM0-<Name>\` is a [label](../guides/labels.md): your own metadata. Providers don't
  get labels or \`X-Customer-ID\`.
- \`X-Request-Id\` in a request is your own id; the row stores it as \`client_request_id\`. In an answer it is the gateway's \`request_id\`.
- For models, \`Cache-Control\` accepts only \`no-store\` and \`no-cache\`. [HTTP backends](../guides/http-backends.md#cache) accept
  more, such as \`only-if-cached\`.`;

/** Of a JSON schema. */
function valuesOf(schema: unknown): string {
  const { type, enum: all, const: only } = schema as { type?: string; enum?: readonly string[]; const?: string };
  if (all !== undefined) return all.map(code).join(' ');
  return only === undefined ? (type ?? 'string') : code(only);
}
