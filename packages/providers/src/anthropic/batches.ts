import type { JsonObject } from '@llm0/core/chat/json';
import { BATCH_TIER, type BatchPart, readVendorJson, type VendorBatch } from '../batches';
import { asObject, asString } from '../translation/read-json';
import { messagesEndpoint, rootOf } from './endpoint';

const PATH = '/v1/messages/batches';
/** Status by the type of an error. */
const STATUSES: Readonly<Record<string, number>> = {
  ...{ invalid_request_error: 400, authentication_error: 401, permission_error: 403, not_found_error: 404 },
  ...{ request_too_large: 413, rate_limit_error: 429, api_error: 500, overloaded_error: 529 },
};

/** https://docs.claude.com/en/api/creating-message-batches */
export const batches: BatchPart = {
  paths: ['/v1/messages'],
  root: rootOf,
  headers: (connection) => messagesEndpoint(connection, []).headers,
  async create(ask, { lines }) {
    const requests = lines.map(({ id, body }) => `{"custom_id":${JSON.stringify(id)},"params":${body}}`);
    const body = `{"requests":[${requests.join(',')}]}`;
    return decodeBatch(await readVendorJson(await ask(PATH, { method: 'POST', body })));
  },
  // Its batches take no marks.
  find: async () => undefined,
  read: async (ask, id) => decodeBatch(await readVendorJson(await ask(`${PATH}/${id}`))),
  cancel: async (ask, id) => void (await ask(`${PATH}/${id}/cancel`, { method: 'POST' })),
  decodeResult({ custom_id: id, result }) {
    const { type, message, error } = asObject(result) ?? {};
    if (typeof id !== 'string') return undefined;
    if (type === 'succeeded') {
      const answer = asObject(message) ?? {};
      const usage = { ...asObject(answer.usage), service_tier: BATCH_TIER };
      return { id, status: 200, body: JSON.stringify({ ...answer, usage }) };
    }
    if (type !== 'errored') return undefined;
    const kind = asString(asObject(asObject(error)?.error)?.type) ?? '';
    return { id, status: STATUSES[kind] ?? 500, body: JSON.stringify(asObject(error) ?? {}) };
  },
};

function decodeBatch({ id, processing_status: status }: JsonObject): VendorBatch {
  if (typeof id !== 'string') throw new Error('the vendor named no batch');
  return { id, isEnded: status === 'ended', results: [`${PATH}/${id}/results`] };
}
