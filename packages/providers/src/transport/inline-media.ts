// Media that cannot be fetched fails the request as the caller's own mistake: another provider would not get it either.
import { type GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { type InlineMedia, mimeTypeOfName } from '../translation/media-source';
import { type EgressOptions, fetchGuarded } from './fetch-guarded';

/** The most that vendors take inside one request, before base64. */
const MAX_TOTAL_BYTES = 20 * 1024 * 1024;
const MAX_URLS = 100;
const MAX_PARALLEL = 8;
const MAX_TIMEOUT_MS = 15_000;

/** Kinds of content a model can read; pages and scripts are none. */
const MEDIA_TYPE = /^(?:image|audio|video)\/|^application\/pdf$|^text\/(?!html$)/;
const UNTOLD_TYPES: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

export interface InlineMediaOptions extends EgressOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Fetches every URL under the egress guard. Throws `invalid_request` naming the first one that fails. */
export async function inlineMedia(
  urls: readonly string[],
  options: InlineMediaOptions,
): Promise<ReadonlyMap<string, InlineMedia>> {
  if (urls.length > MAX_URLS) {
    throw invalidRequest('messages', `The messages name more than ${MAX_URLS} media URLs.`);
  }
  const media = new Map<string, InlineMedia>();
  const timeoutMs = Math.min(options.timeoutMs, MAX_TIMEOUT_MS);
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  let leftBytes = MAX_TOTAL_BYTES;
  const queue = [...urls];
  const work = async () => {
    for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
      const { bytes, contentType } = await fetchGuarded({ ...options, url, timeoutMs, maxBytes: leftBytes, signal });
      leftBytes -= bytes.byteLength;
      if (leftBytes < 0) throw tooMuch();
      media.set(url, { mimeType: readType(url, contentType), dataBase64: Buffer.from(bytes).toString('base64') });
    }
  };
  try {
    await Promise.all(Array.from({ length: MAX_PARALLEL }, work));
  } finally {
    stop.abort();
  }
  return media;
}

function tooMuch(): GatewayError {
  const message = `The media of the messages are larger than ${MAX_TOTAL_BYTES} bytes together.`;
  return invalidRequest('messages', message);
}

function readType(url: string, contentType: string): string {
  const named = UNTOLD_TYPES.has(contentType) ? mimeTypeOfName(URL.parse(url)?.pathname ?? '') : contentType;
  if (named !== undefined && MEDIA_TYPE.test(named)) return named;
  const told = contentType === '' ? 'something without a content type' : contentType;
  throw invalidRequest('messages', `A media URL of the messages gives ${told}, which models cannot read.`);
}
