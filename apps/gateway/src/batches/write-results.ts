import type { BatchDialect, StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import { type EndedLine, readLines } from '@llm0/drizzle/queries/batches/lines';
import type { FileParts } from '../files/parts';

/** Lines that are in memory at once: an answer may be large. */
const LINES_A_PAGE = 50;

type ResultStore = Pick<FileParts, 'db' | 'store'>;
type Encode = (line: EndedLine) => string | undefined;

/** undefined: the line isn't in this file. */
interface ResultFiles {
  readonly output: Encode;
  readonly error?: Encode;
}

/** Lines of the files that each dialect's callers read. */
const RESULT_FILES: Readonly<Record<BatchDialect, ResultFiles>> = {
  openai: {
    output: (line) => (line.state === 'completed' ? encodeAnswer(line) : undefined),
    error: (line) =>
      line.state === 'failed' ? encodeAnswer(line) : line.state === 'expired' ? encodeExpired(line) : undefined,
  },
  anthropic: {
    output: ({ customId, state, answer }) =>
      `{"custom_id":${JSON.stringify(customId)},"result":${RESULTS[state]?.(answer) ?? '{"type":"errored"}'}}\n`,
  },
};

const RESULTS: Readonly<Record<string, (answer: string | null) => string>> = {
  completed: (answer) => `{"type":"succeeded","message":${oneLine(answer)}}`,
  failed: (answer) => `{"type":"errored","error":${oneLine(answer)}}`,
  expired: () => '{"type":"expired"}',
  cancelled: () => '{"type":"canceled"}',
};

function encodeAnswer({ customId, requestId, httpStatus, answer }: EndedLine): string {
  const id = `batch_req_${(requestId ?? '').replaceAll('-', '')}`;
  const head = JSON.stringify({ id, custom_id: customId }).slice(0, -1);
  const of = JSON.stringify({ status_code: httpStatus, request_id: requestId }).slice(0, -1);
  return `${head},"response":${of},"body":${oneLine(answer)}},"error":null}\n`;
}

function encodeExpired({ customId, line }: EndedLine): string {
  const message = 'This request could not be executed before the completion window expired.';
  const error = { code: 'batch_expired', message };
  return `${JSON.stringify({ id: `batch_req_${line}`, custom_id: customId, response: null, error })}\n`;
}

/** An answer as JSON without line breaks. */
function oneLine(answer: string | null): string {
  if (answer === null) return 'null';
  if (!answer.includes('\n') && (answer.startsWith('{') || answer.startsWith('['))) return answer;
  try {
    return JSON.stringify(JSON.parse(answer));
  } catch {
    return JSON.stringify(answer);
  }
}

export interface WrittenResults {
  /** Bytes of each file; absent for one without lines. */
  readonly outputBytes?: number;
  readonly errorBytes?: number;
}

/** Writes the results under the file ids of the batch; a repetition writes the same. */
export async function writeResults(
  { db, store }: ResultStore,
  batch: StoredBatch,
  ids: { readonly output: string; readonly error: string },
): Promise<WrittenResults> {
  const { output, error } = RESULT_FILES[batch.dialect];
  const outputBytes = await writeFile({ db, store }, { batch, id: ids.output, encode: output });
  const errorBytes = error && (await writeFile({ db, store }, { batch, id: ids.error, encode: error }));
  return { ...(outputBytes && { outputBytes }), ...(errorBytes && { errorBytes }) };
}

interface ResultFile {
  readonly batch: StoredBatch;
  readonly id: string;
  readonly encode: Encode;
}

async function writeFile({ db, store }: ResultStore, { batch, id, encode }: ResultFile): Promise<number | undefined> {
  const bytes = await store.write(id, encodeLines({ db, batch, encode }));
  if (bytes > 0) return bytes;
  await store.remove(id);
  return undefined;
}

async function* encodeLines({ db, batch, encode }: Omit<ResultFile, 'id'> & Pick<FileParts, 'db'>) {
  for (let from = 0; from < batch.total; from += LINES_A_PAGE) {
    const lines = await readLines(db, { batchId: batch.id, from, to: from + LINES_A_PAGE });
    const text = lines.map((line) => encode(line) ?? '').join('');
    if (text !== '') yield new Uint8Array(Buffer.from(text));
  }
}
