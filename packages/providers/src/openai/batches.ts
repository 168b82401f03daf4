import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { BATCH_TIER, type BatchPart, postJson, readVendorJson, type VendorBatch } from '../batches';
import { asObject, asObjects, asString } from '../translation/read-json';
import { keyHeaders } from './endpoint';

const ENDS: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);
const MARK = 'llm0_batch';

/** https://platform.openai.com/docs/guides/batch */
export const batches: BatchPart = {
  paths: ['/chat/completions', '/responses'],
  root: ({ baseUrl }) => baseUrl,
  headers: (connection) => ({ ...keyHeaders(connection), ...connection.headers }),
  async create(ask, { mark, lines }) {
    const url = `/v1${lines[0]?.path ?? ''}`;
    const text = lines.map(
      ({ id, body }) => `{"custom_id":${JSON.stringify(id)},"method":"POST","url":"${url}","body":${body}}`,
    );
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', new File([text.join('\n')], `${mark}.jsonl`));
    const file = await readVendorJson(await ask('/files', { method: 'POST', body: form }));
    const body = {
      input_file_id: file.id ?? null,
      endpoint: url,
      completion_window: '24h',
      metadata: { [MARK]: mark },
    };
    return decodeBatch(await readVendorJson(await ask('/batches', postJson(body))));
  },
  async find(ask, mark) {
    const { data } = await readVendorJson(await ask('/batches?limit=100'));
    const found = asObjects(data).find(({ metadata }) => asObject(metadata)?.[MARK] === mark);
    return found && decodeBatch(found);
  },
  read: async (ask, id) => decodeBatch(await readVendorJson(await ask(`/batches/${id}`))),
  cancel: async (ask, id) => void (await ask(`/batches/${id}/cancel`, { method: 'POST' })),
  decodeResult({ custom_id: id, response }) {
    const { status_code: status, body } = asObject(response) ?? {};
    if (typeof id !== 'string' || typeof status !== 'number') return undefined;
    const answer = asObject(body) ?? {};
    return { id, status, body: JSON.stringify(status < 300 ? { ...answer, service_tier: BATCH_TIER } : answer) };
  },
};

function decodeBatch(body: JsonObject): VendorBatch {
  const results = [body.output_file_id, body.error_file_id].flatMap((id: JsonValue | undefined) =>
    typeof id === 'string' ? `/files/${id}/content` : [],
  );
  const id = asString(body.id);
  if (id === undefined) throw new Error('the vendor named no batch');
  return { id, isEnded: ENDS.has(asString(body.status) ?? ''), results };
}
