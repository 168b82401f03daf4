import { type JsonObject, parseJson } from '@llm0/core/chat/json';
import { nanoFromUsd } from '@llm0/drizzle/money';
import { findAnyKeyHash } from '@llm0/drizzle/queries/access/api-keys';
import { readBatch, type StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import type { ClaimedLine } from '@llm0/drizzle/queries/batches/lines';
import type { VendorResult } from '@llm0/providers/batches';
import { PREFIXES, showId } from '../files/own-ids';
import type { Services } from '../services/contract';
import { readLineBody } from './check-lines';
import { encodeLines } from './encode-lines';
import { advanceBatch } from './finish-batch';
import { forwardBatch } from './forward-batch';
import type { LineEndpoints } from './line-endpoint';
import { BatchPauses } from './queue/batch-pauses';
import type { Chunk } from './queue/batch-queue';
import { type LineAnswer, runChunk } from './run-chunk';
import { asAnswered, idOfSpent, withAnswer } from './spent-lines';

/** Runs chunks in this process: each line is a request of the batch's key, with its own row. */
export const createChunkRunner =
  (
    services: Services,
    endpoints: LineEndpoints,
    pauses = new BatchPauses(() => services.clock.nowMs()),
    inTurn = createTurns(),
  ) =>
  async (chunk: Chunk, signal: AbortSignal): Promise<void> => {
    const { work } = services.batches;
    const batch = await readBatch(services.batches.db, chunk.batchId);
    if (batch === null || batch.endedAtMs !== null) return;
    if (chunk.from < 0) {
      return inTurn(batch.id, () => forward(services, endpoints, batch.id));
    }
    if (chunk.to > chunk.from) {
      const leftMs = batch.cancellingAtMs === null ? pauses.leftMs(batch.id) : 0;
      if (leftMs > 0) return work.runAgain(chunk, leftMs);
      const ask = await createAsk(services, endpoints, batch);
      const heldUp = await runChunk({ services, batch, chunk, signal, ask });
      if (heldUp === undefined) pauses.end(batch.id);
      else {
        const { drawn } = heldUp;
        await work.runAgain({ ...chunk, drawn }, pauses.begin(batch.id, heldUp));
      }
    }
    if (signal.aborted) throw new Error('this process stops; the next one goes on');
    await inTurn(batch.id, () => advanceBatch(services, batch.id));
  };

async function forward(services: Services, endpoints: LineEndpoints, batchId: string): Promise<void> {
  const batch = await readBatch(services.batches.db, batchId);
  if (batch === null || batch.endedAtMs !== null) return;
  const encoding = { batch, endpoint: endpoints[batch.endpoint], keyHash: await keyHashOf(services, batch) };
  await forwardBatch(services, { batch, encode: () => encodeLines(services, encoding) });
}

/** One at a time for each batch: chunks that end at once would write its results several times. */
function createTurns(): (batchId: string, work: () => Promise<void>) => Promise<void> {
  const last = new Map<string, Promise<void>>();
  return async (batchId, work) => {
    const before = last.get(batchId);
    const own = (async () => {
      await before?.catch(() => {});
      await work();
    })();
    last.set(batchId, own);
    try {
      await own;
    } finally {
      if (last.get(batchId) === own) last.delete(batchId);
    }
  };
}

async function createAsk(services: Services, endpoints: LineEndpoints, batch: StoredBatch) {
  const { dialect } = batch;
  const keyHash = await keyHashOf(services, batch);
  const endpoint = endpoints[batch.endpoint];
  return async (line: ClaimedLine): Promise<LineAnswer> => {
    const { customId, at, length } = line;
    const hasResult = line.resultAt !== null;
    const requestId = hasResult ? idOfSpent(batch, line.line) : services.createId();
    try {
      if (endpoint === undefined) throw new Error(`batches can't use ${batch.endpoint}`);
      const text = await services.files.store.readText(batch.inputFileId, { from: at, to: at + length });
      const result = await readResult(services, batch, line);
      const body = readLineBody(text, dialect);
      const asked = result === undefined ? body : asAnswered(services, batch, body);
      const request = requestOf(batch, customId, JSON.stringify(asked));
      const serving = result === undefined ? endpoint : endpoint.withServices(withAnswer(services, result));
      if (result !== undefined) for (const [name, value] of REPLAYED) request.headers.set(name, value);
      const isSpent = result === undefined ? undefined : true;
      const response = await serving.handle(request, { keyHash, requestId, modality: 'batch', isSpent });
      return explainKey(readAnswer(response, await response.text(), requestId));
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

const keyHashOf = async ({ batches }: Services, { projectId, apiKeyId: id }: StoredBatch): Promise<string> =>
  (await findAnyKeyHash(batches.db, { projectId, id })) ?? '';

/** The answer is there: nothing else may stand in for it. */
const REPLAYED = [
  ['X-LLM0-Cache', 'off'],
  ['X-LLM0-Failover', 'off'],
] as const;

/** The vendor's answer to a line, if it ran it. */
async function readResult(
  services: Services,
  batch: StoredBatch,
  line: ClaimedLine,
): Promise<VendorResult | undefined> {
  const { resultAt: from, resultLength: length } = line;
  const { resultsId, provider = '', model = '' } = batch.forwarded ?? {};
  if (from === null || length === null || resultsId === undefined) return undefined;
  const text = await services.files.store.readText(resultsId, { from, to: from + length });
  const part = services.connect({ provider, model }, batch.projectId)?.provider.batches;
  const result = part?.decodeResult(JSON.parse(text) as JsonObject);
  if (result !== undefined && Number(result.id) !== line.line) throw new Error('a result is that of another line');
  return result;
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

/** Reasons of a key by which its batch's lines fail. */
const KEY_ENDS: Readonly<Record<string, string>> = {
  invalid_api_key: 'The API key of this batch was revoked or deleted. Create the batch again with another key.',
  key_expired: 'The API key of this batch has expired. Create the batch again with another key.',
};

/** The reader of a line sent no key by itself, and could not tell which one it was. */
function explainKey(line: LineAnswer): LineAnswer {
  const message = line.code === undefined ? undefined : KEY_ENDS[line.code];
  if (message === undefined) return line;
  const { error, ...rest } = parseJson(line.answer) as { readonly error: JsonObject };
  return { ...line, answer: JSON.stringify({ ...rest, error: { ...error, message } }) };
}

function codeOf(answer: string): string | undefined {
  try {
    const { error } = parseJson(answer) as { readonly error?: { readonly code?: unknown } };
    return typeof error?.code === 'string' ? error.code : undefined;
  } catch {
    return undefined;
  }
}
