// If the embedding service fails, the text gets no vector and the request continues as a miss.
import type { JsonValue } from '../chat/json';
import { findJsonExcessInSlices } from '../chat/json-bounds';
import { decodeInSlices, parseJsonInSlices } from '../chat/json-in-slices';
import { type Embedder, type EmbedOutcome, none, normalizeVector } from './embedder';
import { type WaitingText, WaitingTexts } from './waiting-texts';

/** Request and response of a service. */
export interface EmbeddingApi {
  path(url: string): string;
  body(texts: readonly string[], model: string | undefined): object;
  /** One vector a text, in order; undefined for any other answer. */
  read(answer: unknown): readonly (readonly number[])[] | undefined;
}

export type EmbeddingApiName = 'embed' | 'embeddings';

const isNumbers = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'number' && Number.isFinite(one));

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

/** `embed`: `POST /embed {texts} → {embeddings}`; the other: `POST /embeddings {model, input} → {data: [{embedding}]}`. */
export const EMBEDDING_APIS = {
  embed: {
    path: (url) => (/\/embed\/?$/.test(url) ? url : `${url.replace(/\/$/, '')}/embed`),
    body: (texts) => ({ texts }),
    read: (answer) => {
      const vectors = fieldOf(answer, 'embeddings');
      return Array.isArray(vectors) && vectors.every(isNumbers) ? vectors : undefined;
    },
  },
  embeddings: {
    path: (url) => (/\/embeddings\/?$/.test(url) ? url : `${url.replace(/\/$/, '')}/embeddings`),
    body: (texts, model) => ({ model, input: texts, encoding_format: 'float' }),
    read: (answer) => {
      const data = fieldOf(answer, 'data');
      if (!Array.isArray(data)) return undefined;
      const ordered = data.toSorted((a, b) => Number(fieldOf(a, 'index') ?? 0) - Number(fieldOf(b, 'index') ?? 0));
      const vectors = ordered.map((one) => fieldOf(one, 'embedding'));
      return vectors.every(isNumbers) ? vectors : undefined;
    },
  },
} as const satisfies Record<EmbeddingApiName, EmbeddingApi>;

export interface RemoteEmbedderOptions {
  readonly url: string;
  readonly api: EmbeddingApiName;
  readonly model?: string;
  readonly apiKey?: string;
  readonly fetch: typeof globalThis.fetch;
  readonly maxQueued?: number;
  readonly maxBatch?: number;
}

const MAX_BATCH = 32;
const MAX_CALLS = 4;
/** A call continues for waiting texts, but no longer than this. */
const CALL_TIMEOUT_MS = 5000;

/** Any embedding service over HTTP; texts that arrive while all calls run share the next one. */
export class RemoteEmbedder implements Embedder {
  readonly model: string;
  private readonly queue: WaitingTexts;
  private calls = 0;
  private readonly stopped = new AbortController();

  constructor(private readonly options: RemoteEmbedderOptions) {
    this.model = `${options.api}:${options.url}:${options.model ?? ''}`;
    this.queue = new WaitingTexts(options.maxQueued);
  }

  embed(text: string, deadlineMs: number): Promise<EmbedOutcome> {
    const refused = this.queue.refusal(text);
    if (refused !== undefined) return Promise.resolve(refused);
    const outcome = this.queue.add(text, deadlineMs);
    this.hand();
    return outcome;
  }

  stop(): void {
    this.stopped.abort();
  }

  private hand(): void {
    while (this.queue.size > 0 && this.calls < MAX_CALLS) {
      const batch = this.queue.take(this.options.maxBatch ?? MAX_BATCH);
      this.calls += 1;
      void this.call(batch).finally(() => {
        this.calls -= 1;
        this.hand();
      });
    }
  }

  private async call(batch: readonly WaitingText[]): Promise<void> {
    const vectors = await this.ask(batch.map(({ text }) => text)).catch(() => undefined);
    for (const [index, { settle }] of batch.entries()) {
      const given = vectors?.length === batch.length ? vectors[index] : undefined;
      const vector = given === undefined ? undefined : normalizeVector(given);
      settle(vector === undefined ? none('failed') : { type: 'vector', vector });
    }
  }

  private async ask(texts: readonly string[]): Promise<readonly (readonly number[])[] | undefined> {
    const { url, api, model, apiKey, fetch } = this.options;
    const { path, body, read } = EMBEDDING_APIS[api];
    const response = await fetch(path(url), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body(texts, model)),
      signal: AbortSignal.any([this.stopped.signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]),
      redirect: 'error',
    });
    if (!response.ok) {
      await response.body?.cancel();
      return undefined;
    }
    return read(await boundedJson(response));
  }
}

/** Far more than the vectors of a batch take. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Throws for an oversized, too deeply nested or invalid JSON answer. */
async function boundedJson({ body }: Response): Promise<JsonValue> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new Error('The embedding service sent too large an answer.');
    chunks.push(chunk);
  }
  const text = await decodeInSlices(chunks);
  if ((await findJsonExcessInSlices(text)) !== undefined) throw new Error('The embedding service sent no vectors.');
  return parseJsonInSlices(text);
}
