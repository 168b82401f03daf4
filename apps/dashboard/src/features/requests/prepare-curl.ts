import type { Log } from '../../api/logs';

/** Paths of APIs; others have no single body to send. */
const PATHS: Readonly<Record<string, string>> = {
  'openai-chat': '/v1/chat/completions',
  'openai-completions': '/v1/completions',
  'openai-decisions': '/v1/decisions',
  'openai-embeddings': '/v1/embeddings',
  'openai-images': '/v1/images/generations',
  'openai-moderations': '/v1/moderations',
  'openai-responses': '/v1/responses',
  'anthropic-messages': '/v1/messages',
  'cohere-rerank': '/v1/rerank',
};

/** Shell variable in place of the key, so that nobody copies a secret. */
const KEY = '$LLM0_API_KEY';

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The request as a command; null if its body is incomplete or its API has none. */
export function prepareCurl(
  log: Pick<Log, 'dialect' | 'customer_id' | 'labels'>,
  body: unknown,
  url: string,
): string | null {
  const path = PATHS[log.dialect];
  if (path === undefined || typeof body !== 'object' || body === null || 'truncated' in body) return null;
  const labels = Object.entries(log.labels ?? {}).map(([name, value]) => `X-LLM0-${name}: ${value}`);
  const headers = [...(log.customer_id === null ? [] : [`X-Customer-ID: ${log.customer_id}`]), ...labels];
  return [
    `curl ${url}${path}`,
    `-H "Authorization: Bearer ${KEY}"`,
    "-H 'Content-Type: application/json'",
    ...headers.map((header) => `-H ${quote(header)}`),
    `-d ${quote(JSON.stringify(body))}`,
  ].join(' \\\n  ');
}
