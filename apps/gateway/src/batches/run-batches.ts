import { parseJson } from '@llm0/core/chat/json';
import { nanoFromUsd } from '@llm0/drizzle/money';
import { findKeyHash } from '@llm0/drizzle/queries/access/api-keys';
import { readBatch, type StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import type { ClaimedLine } from '@llm0/drizzle/queries/batches/lines';
import { PREFIXES, showId } from '../files/own-ids';
import type { Services } from '../services/contract';
import type { Chunk } from './batch-queue';
import { readLineBody } from './check-lines';
import { advanceBatch } from './finish-batch';
import type { LineEndpoints } from './line-endpoint';
import { type LineAnswer, runChunk } from './run-chunk';

/** Runs chunks in this process: each line is a request of the batch's key, with its own row. */
export const createChunkRunner =
  (services: Services, endpoints: LineEndpoints) =>
  async (chunk: Chunk, signal: AbortSignal): Promise<void> => {
    const batch = await readBatch(services.batches.db, chunk.batchId);
    if (batch === null || batch.endedAtMs !== null) return;
    const isRun = chunk.to > chunk.from && batch.cancellingAtMs === null && services.clock.nowMs() < batch.expiresAtMs;
    if (isRun) await runChunk({ services, batch, chunk, signal, ask: await createAsk(services, endpoints, batch) });
    if (signal.aborted) throw new Error('this process stops; the next one goes on');
    await advanceBatch(services, batch.id);
  };

async function createAsk(services: Services, endpoints: LineEndpoints, batch: StoredBatch) {
  const { projectId, apiKeyId: id, dialect } = batch;
  const keyHash = (await findKeyHash(services.batches.db, { projectId, id })) ?? '';
  const endpoint = endpoints[batch.endpoint];
  return async ({ customId, at, length }: ClaimedLine): Promise<LineAnswer> => {
    const requestId = services.createId();
    try {
      if (endpoint === undefined) throw new Error(`batches can't use ${batch.endpoint}`);
      const text = await services.files.store.readText(batch.inputFileId, { from: at, to: at + length });
      const request = requestOf(batch, customId, JSON.stringify(readLineBody(text, dialect)));
      const response = await endpoint.handle(request, { keyHash, requestId, modality: 'batch' });
      return readAnswer(response, await response.text(), requestId);
    } catch (err) {
      services.log.error({ err, batch: batch.id }, 'a line of a batch failed unexpectedly');
      const error = {
        message: 'The gateway could not run this line.',
        type: 'api_error',
        code: 'internal',
        param: null,
      };
      return { ...NO_USAGE, requestId, httpStatus: 500, answer: JSON.stringify({ error }) };
    }
  };
}

const NO_USAGE = { costNanoUsd: 0, tokensIn: 0, tokensOut: 0, code: undefined, retryAfter: null } as const;

/** Printable characters that a header takes. */
const PLAIN = /^[\x20-\x7e]*$/;
const MAX_REQUEST_ID_LENGTH = 256;

function requestOf({ endpoint, headers, id, dialect }: StoredBatch, customId: string, body: string): Request {
  const name = showId(dialect === 'anthropic' ? PREFIXES.messageBatch : PREFIXES.batch, id);
  const shown = `${name}/${PLAIN.test(customId) ? customId : encodeURIComponent(customId.toWellFormed())}`;
  return new Request(`http://localhost${endpoint}`, {
    method: 'POST',
    headers: {
      ...headers,
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      // A label, by which the log finds its rows.
      'X-LLM0-Batch': name,
      'X-Request-Id': shown.slice(0, MAX_REQUEST_ID_LENGTH).trim(),
    },
    body,
  });
}

function readAnswer({ status, headers }: Response, answer: string, requestId: string): LineAnswer {
  return {
    ...{ requestId, httpStatus: status, answer },
    costNanoUsd: nanoFromUsd(headers.get('X-Cost-Usd') ?? '0'),
    tokensIn: Number(headers.get('X-Tokens-Prompt') ?? 0),
    tokensOut: Number(headers.get('X-Tokens-Completion') ?? 0),
    code: status < 400 ? undefined : codeOf(answer),
    retryAfter: headers.get('Retry-After'),
  };
}

function codeOf(answer: string): string | undefined {
  try {
    const { error } = parseJson(answer) as { readonly error?: { readonly code?: unknown } };
    return typeof error?.code === 'string' ? error.code : undefined;
  } catch {
    return undefined;
  }
}
