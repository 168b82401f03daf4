import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type AskVendor, BATCH_TIER, type BatchPart, postJson, readVendorJson, type VendorBatch } from '../batches';
import { asObject, asObjects, asString } from '../translation/read-json';
import { keyHeaders, modelPath, rootOf } from './endpoint';

/** `BATCH_STATE_…` on the wire, `JOB_STATE_…` in the vendor's pages. */
const ENDS = /_(?:SUCCEEDED|FAILED|CANCELLED|EXPIRED)$/;
const TYPE = 'application/jsonl';
/** HTTP status by `google.rpc.Code`. */
const STATUSES: Readonly<Record<number, number>> = {
  ...{ 1: 499, 3: 400, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 13: 500, 14: 503, 16: 401 },
};
/** Cancelled and past its deadline: nothing was run. */
const NOT_RUN: ReadonlySet<JsonValue | undefined> = new Set([1, 4]);

/** https://ai.google.dev/gemini-api/docs/batch-api: by a file, because answers to inline requests lack their keys. */
export const batches: BatchPart = {
  paths: [':generateContent'],
  root: rootOf,
  headers: (connection) => ({ ...keyHeaders(connection), ...connection.headers }),
  async create(ask, { mark, model, lines }) {
    const text = lines.map(({ id, body }) => `{"key":${JSON.stringify(id)},"request":${body}}`).join('\n');
    const batch = { displayName: mark, inputConfig: { fileName: await upload(ask, mark, text) } };
    const path = `/v1beta/${modelPath(model).split('/').map(encodeURIComponent).join('/')}:batchGenerateContent`;
    return decodeBatch(await readVendorJson(await ask(path, postJson({ batch }))));
  },
  async find(ask, mark) {
    const { operations } = await readVendorJson(await ask('/v1beta/batches?pageSize=100'));
    const found = asObjects(operations).find(({ metadata }) => asObject(metadata)?.displayName === mark);
    return found && decodeBatch(found);
  },
  read: async (ask, id) => decodeBatch(await readVendorJson(await ask(`/v1beta/${id}`))),
  cancel: async (ask, id) => void (await ask(`/v1beta/${id}:cancel`, { method: 'POST' })),
  decodeResult({ key: id, response, error }) {
    if (typeof id !== 'string') return undefined;
    const answer = asObject(response);
    if (answer !== undefined) {
      const usageMetadata = { ...asObject(answer.usageMetadata), serviceTier: BATCH_TIER };
      return { id, status: 200, body: JSON.stringify({ ...answer, usageMetadata }) };
    }
    const failure = asObject(error);
    if (failure === undefined || NOT_RUN.has(failure.code)) return undefined;
    return { id, status: STATUSES[Number(failure.code)] ?? 500, body: JSON.stringify({ error: failure }) };
  },
};

/** Name of the file: https://ai.google.dev/gemini-api/docs/files. The vendor names the URL of the second request. */
async function upload(ask: AskVendor, mark: string, text: string): Promise<string> {
  const bytes = new Uint8Array(Buffer.from(text));
  const start = postJson({ file: { displayName: `${mark}.jsonl` } });
  const started = await ask('/upload/v1beta/files', {
    ...start,
    headers: {
      ...start.headers,
      'x-goog-upload-protocol': 'resumable',
      'x-goog-upload-command': 'start',
      'x-goog-upload-header-content-length': String(bytes.byteLength),
      'x-goog-upload-header-content-type': TYPE,
    },
  });
  const to = started.headers.get('x-goog-upload-url');
  if (to === null) throw new Error('the vendor named no place for the upload');
  // Behind our own root: the key goes nowhere else.
  const { pathname, search } = new URL(to);
  const headers = { 'content-type': TYPE, 'x-goog-upload-offset': '0', 'x-goog-upload-command': 'upload, finalize' };
  const { file } = await readVendorJson(await ask(pathname + search, { method: 'POST', headers, body: bytes }));
  const name = asString(asObject(file)?.name);
  if (name === undefined) throw new Error('the vendor named no file');
  return name;
}

function decodeBatch({ name, done, metadata, response }: JsonObject): VendorBatch {
  const id = asString(name);
  if (id === undefined) throw new Error('the vendor named no batch');
  const { state, output } = asObject(metadata) ?? {};
  const file = asString((asObject(response) ?? asObject(output))?.responsesFile);
  return {
    id,
    isEnded: done === true || ENDS.test(asString(state) ?? ''),
    results: file === undefined ? [] : [`/download/v1beta/${file}:download?alt=media`],
  };
}
