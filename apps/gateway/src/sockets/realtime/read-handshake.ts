import type { DialectName } from '@llm0/core/logs/log-record';
import type { RealtimeProtocol } from '@llm0/providers/transport/call-realtime';
import { getPath } from 'hono/utils/url';

/** A path of sessions. */
export interface SessionPath {
  readonly protocol: RealtimeProtocol;
  readonly dialect: DialectName;
}

const REALTIME: SessionPath = { protocol: 'realtime', dialect: 'openai-realtime' };
const PATHS: ReadonlyMap<string, SessionPath> = new Map([
  ['/v1/realtime', REALTIME],
  ['/v1/realtime/translations', { protocol: 'translation', dialect: 'openai-realtime' }],
  ['/v1/live/sessions', { protocol: 'live', dialect: 'openai-live' }],
]);
/** Of the vendor's own clients, which name the model in their first message, and double the slash behind a base URL. */
const BIDI_PATH =
  /^\/\/?ws\/google\.ai\.generativelanguage\.v1(?:alpha|beta)?\.GenerativeService\.BidiGenerateContent$/;
const BIDI: SessionPath = { protocol: 'bidi', dialect: 'gemini-live' };

/** undefined: no path of sessions. */
export function sessionPathOf(request: Request): SessionPath | undefined {
  const path = getPath(request);
  return PATHS.get(path) ?? (BIDI_PATH.test(path) ? BIDI : undefined);
}

export interface Handshake {
  /** With the key in `authorization`, wherever the caller put it. */
  readonly headers: Headers;
  /** Of the caller's, the one that is spoken. */
  readonly subprotocol: string | undefined;
  /** Empty where the first message names it. */
  readonly model: string;
  readonly isTranscription: boolean;
}

const KEY_PROTOCOL = 'openai-insecure-api-key.';
const SPOKEN = ['realtime', 'openai-beta.realtime-v1'];

/** Browsers send no headers but sub-protocols. Some clients put their key into the URL. */
export function readHandshake(request: Request): Handshake {
  const url = new URL(request.url);
  const headers = new Headers(request.headers);
  const offered = (headers.get('sec-websocket-protocol') ?? '').split(',').map((one) => one.trim());
  const inProtocol = offered.find((one) => one.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
  const key = inProtocol ?? url.searchParams.get('key') ?? undefined;
  const isSent = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'].some((name) => headers.has(name));
  if (key !== undefined && !isSent) headers.set('authorization', `Bearer ${key}`);
  return {
    headers,
    subprotocol: SPOKEN.find((one) => offered.includes(one)),
    model: url.searchParams.get('model') ?? '',
    isTranscription: url.searchParams.get('intent') === 'transcription',
  };
}
