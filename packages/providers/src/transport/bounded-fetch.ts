// A compressed answer that exceeds the limit or has an unknown encoding fails as an upstream failure.
import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

/** A refused answer; the message continues its sender's name. */
export class UnusableAnswerError extends Error {
  override readonly name = 'UnusableAnswerError';
}

export function tooLargeAnswer(maxBytes: number): UnusableAnswerError {
  return new UnusableAnswerError(`sent an answer larger than ${maxBytes} bytes (MAX_RESPONSE_BYTES).`);
}

/** `bytesWritten`: decoded bytes so far. */
type Decoder = Transform & { readonly bytesWritten: number };

const CHUNK = { chunkSize: 64 * 1024 };

/** Names of https://www.iana.org/assignments/http-parameters, lower case. */
const DECODERS: Readonly<Record<string, () => Decoder>> = {
  gzip: () => createGunzip(CHUNK),
  'x-gzip': () => createGunzip(CHUNK),
  deflate: () => createInflate(CHUNK),
  br: () => createBrotliDecompress(CHUNK),
  zstd: () => createZstdDecompress(CHUNK),
};
/** Each costs a decoder's memory; honest servers send one. */
const MAX_ENCODINGS = 3;
/** Above this size, an answer that grew by more than this factor is a decompression bomb. */
const BOMB = { minBytes: 4 * 1024 * 1024, growth: 800 };

/**
 * Decodes compressed bodies piece by piece: the runtime's decoder expands a whole chunk at once, so 300 kB may become
 * 600 MB. Other bodies pass; their readers count them.
 */
export function createBoundedFetch(fetch: typeof globalThis.fetch, maxBytes: number): typeof globalThis.fetch {
  const read = (response: Response): Response => {
    const encoding = response.headers.get('content-encoding');
    return encoding === null || response.body === null ? response : decoded(response, encoding, maxBytes);
  };
  const boundedFetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
    fetch(input, { ...init, decompress: false } as RequestInit).then(read);
  return Object.assign(boundedFetch, { preconnect: fetch.preconnect });
}

function decoded(response: Response, encoding: string, maxBytes: number): Response {
  const named = encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const names = named.filter((name) => name !== '' && name !== 'identity');
  const body = response.body as ReadableStream<Uint8Array>;
  const makers = names.map((name) => (Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined));
  if (names.length > MAX_ENCODINGS || makers.includes(undefined)) {
    void body.cancel().catch(() => {});
    throw new UnusableAnswerError(`answered in an unknown encoding (${encoding.slice(0, 40)}).`);
  }
  const headers = new Headers(response.headers);
  headers.delete('content-encoding');
  headers.delete('content-length');
  const decoders = makers.reverse().flatMap((make) => (make === undefined ? [] : [make()]));
  const { status, statusText } = response;
  const plain = decoders.length === 0 ? body : boundedDecoding(body, decoders, maxBytes);
  return new Response(plain, { status, statusText, headers });
}

/** Reads at its reader's pace. */
function boundedDecoding(
  body: ReadableStream<Uint8Array>,
  decoders: readonly Decoder[],
  maxBytes: number,
): ReadableStream<Uint8Array> {
  let sent = 0;
  const source = Readable.from(body as AsyncIterable<Uint8Array>, { objectMode: false });
  const last = decoders.at(-1) as Decoder;
  pipeline([source, ...decoders], () => {});
  const chunks = last[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const stop = (): void => {
    for (const stage of [source, ...decoders]) stage.destroy();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) return controller.close();
        sent += value.byteLength;
        const isBomb = sent > BOMB.minBytes && sent > BOMB.growth * last.bytesWritten;
        if (sent <= maxBytes && !isBomb) return controller.enqueue(value);
        stop();
        throw isBomb
          ? new UnusableAnswerError('sent a compressed answer that grows without end.')
          : tooLargeAnswer(maxBytes);
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
}

/** Lists of models and pages of errors are far smaller. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

/** Text of a small answer. Throws `UnusableAnswerError` past 4 MiB. */
export async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_TEXT_BYTES)
      throw new UnusableAnswerError(`sent more than ${MAX_TEXT_BYTES} bytes for a short answer.`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
