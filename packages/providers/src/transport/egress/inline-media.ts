// Media that cannot be fetched fails the request as the caller's own mistake: another provider would not get it either.
import { setTimeout } from 'node:timers/promises';
import { type GatewayError, givenUp, invalidRequest } from '@llm0/core/errors/gateway-error';
import { type InlineMedia, mimeTypeOfName } from '../../translation/media-source';
import { type EgressOptions, fetchGuarded, readUrl, refused } from './fetch-guarded';

/** The most that vendors take inside one request, before base64. */
const MAX_TOTAL_BYTES = 20 * 1024 * 1024;
const MAX_URLS = 100;
const MAX_PARALLEL = 8;
const MAX_TIMEOUT_MS = 15_000;
/** A closed port refuses at once and an open one later: both are reported after this time. */
const SOONEST_REFUSAL_MS = 300;
const UNUSABLE =
  `could not be used: it has to be an image, audio, video or PDF at a public address that answers within ` +
  `${MAX_TIMEOUT_MS / 1000} s, and all media of a request may have ${MAX_TOTAL_BYTES / 1024 ** 2} MiB`;

/** Kinds of content a model can read. Text is none of them: pages and configuration inside a network are text. */
const MEDIA_TYPE = /^(?:image\/(?!svg)|audio\/|video\/)|^application\/pdf$/;
const UNTOLD_TYPES: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

export interface InlineMediaOptions extends EgressOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Fetches every URL under the egress guard. Throws `invalid_request` for the first failure, with the same text and
 * delay for all reasons, so that callers can't probe hosts. The cause holds the reason.
 */
export async function inlineMedia(
  urls: readonly string[],
  options: InlineMediaOptions,
): Promise<ReadonlyMap<string, InlineMedia>> {
  if (urls.length > MAX_URLS) {
    throw invalidRequest('messages', `The messages name more than ${MAX_URLS} media URLs.`);
  }
  for (const url of urls) readUrl(url);
  const media = new Map<string, InlineMedia>();
  const timeoutMs = Math.min(options.timeoutMs, MAX_TIMEOUT_MS);
  const startMs = performance.now();
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  let leftBytes = MAX_TOTAL_BYTES;
  const onBytes = (bytes: number) => {
    leftBytes -= bytes;
    if (leftBytes < 0) throw tooMuch();
  };
  const queue = [...urls];
  const work = async () => {
    for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
      try {
        const bounds = { timeoutMs, maxBytes: MAX_TOTAL_BYTES, onBytes };
        const { bytes, contentType } = await fetchGuarded({ ...options, ...bounds, url, signal });
        media.set(url, { mimeType: readType(url, contentType), dataBase64: Buffer.from(bytes).toString('base64') });
      } catch (cause) {
        if (options.signal.aborted) throw givenUp(options.signal);
        const waitMs = Math.max(0, SOONEST_REFUSAL_MS - (performance.now() - startMs));
        await setTimeout(waitMs, undefined, { signal }).catch(() => {});
        throw refused(url, UNUSABLE, cause);
      }
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
