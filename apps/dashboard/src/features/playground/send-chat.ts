// A refusal or an outage is an outcome; only an abort throws.
import { awaitSignIn } from '../../api/expired-session';
import { MEDIA_PATHS, type MediaKind, picturesOf, speechOf } from './media';
import { type ChatJson, ChatReader, type ChatResult, type ChatSoFar, readFault } from './read-chat';

/** With a pasted key, or by the session as a key that is chosen: then no secret is there. */
export type Sender = { readonly apiKey: string } | { readonly projectId: string; readonly keyId: string };

export interface ChatWish {
  readonly sender: Sender;
  readonly body: Readonly<Record<string, unknown>>;
  /** Absent for chat. */
  readonly media?: MediaKind | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly onPart?: (soFar: ChatSoFar) => void;
  /** A stream's headers, before its first part. */
  readonly onHeaders?: (headers: ShownHeaders) => void;
}

/** The gateway's own headers, and `X-Request-Id`. */
export type ShownHeaders = readonly (readonly [string, string])[];

export interface ChatOutcome extends ChatResult {
  /** 0 where nothing answered. */
  readonly status: number;
  readonly requestId: string | null;
  readonly headers: ShownHeaders;
  readonly totalMs: number;
}

const SHOWN_HEADER = /^(x-(?!powered|content)|retry-after)/;
const UNREACHABLE = { message: 'The gateway cannot be reached. Is it running?', code: 'unreachable' };

/** One request as an application would send it. */
export async function sendChat(wish: ChatWish, fetchFrom: typeof fetch = fetch): Promise<ChatOutcome> {
  const startMs = performance.now();
  const elapsedMs = () => performance.now() - startMs;
  const reader = new ChatReader(wish.onPart, elapsedMs);
  let response: Response | undefined;
  try {
    response = await ask(wish, fetchFrom);
    wish.onHeaders?.(shownHeaders(response));
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (wish.media === 'speech' && response.ok) reader.takeMedia([await speechOf(response)]);
    else if (isStream && response.body !== null) await reader.readStream(response.body);
    else {
      const json = (await response.json().catch(() => ({}))) as ChatJson;
      reader.take(json);
      if (wish.media === 'image') reader.takeMedia(picturesOf(json));
    }
  } catch (cause) {
    if (wish.signal?.aborted) throw cause;
    const message = response === undefined ? UNREACHABLE : { ...UNREACHABLE, message: 'The answer was cut off.' };
    reader.take({ error: message });
  }
  const result = reader.result();
  const status = response?.status ?? 0;
  return {
    ...result,
    fault: result.fault ?? (response?.ok === true ? null : readFault(null, status)),
    status,
    requestId: response?.headers.get('x-request-id') ?? null,
    headers: response === undefined ? [] : shownHeaders(response),
    totalMs: elapsedMs(),
  };
}

const shownHeaders = ({ headers }: Response): ShownHeaders => [...headers].filter(([name]) => SHOWN_HEADER.test(name));

async function ask({ sender, body, media, headers, signal }: ChatWish, fetchFrom: typeof fetch): Promise<Response> {
  const { path, ...how } = entranceOf(sender, media === undefined ? 'chat/completions' : MEDIA_PATHS[media]);
  const init = {
    ...{ ...how, method: 'POST', signal, body: JSON.stringify(body) },
    headers: { ...headers, ...how.headers, 'content-type': 'application/json' },
  };
  const response = await fetchFrom(path, init);
  // The session expired, not the key: the user signs in and the request runs again.
  if (response.status !== 401 || 'apiKey' in sender || response.headers.has('x-llm0-sent-as')) return response;
  await awaitSignIn();
  return fetchFrom(path, init);
}

function entranceOf(sender: Sender, name: string) {
  if ('apiKey' in sender) {
    const headers: Record<string, string> = { authorization: `Bearer ${sender.apiKey}` };
    return { path: `/v1/${name}`, headers, credentials: 'omit' as const };
  }
  const path = `/admin/v1/projects/${sender.projectId}/keys/${sender.keyId}/${name}`;
  return { path, headers: {} as Record<string, string>, credentials: 'same-origin' as const };
}

/** Sends a prompt for a modification; throws on failure. */
export async function chat(wish: {
  readonly apiKey: string;
  readonly model: string;
  readonly prompt: string;
}): Promise<ChatOutcome> {
  const { apiKey, model, prompt } = wish;
  const outcome = await sendChat({
    sender: { apiKey },
    body: { model, messages: [{ role: 'user', content: prompt }] },
  });
  if (outcome.fault !== null) throw new Error(outcome.fault.message);
  return outcome;
}

/** A model or alias that a key may use. */
export interface CallableModel {
  readonly id: string;
  readonly owned_by: string;
  readonly capabilities?: readonly string[];
  readonly output_modalities?: readonly string[];
  readonly context_window?: number;
  readonly max_output_tokens?: number;
  /** Aliases only. */
  readonly targets?: readonly string[];
}

/** Models and aliases that a key may use. Throws the refusal. */
export async function listModels(sender: Sender, signal?: AbortSignal): Promise<readonly CallableModel[]> {
  const { path, ...how } = entranceOf(sender, 'models');
  const response = await fetch(path, { ...how, signal });
  const body = (await response.json()) as { data?: CallableModel[]; error?: unknown };
  if (!response.ok) throw new Error(readFault(body.error, response.status).message);
  return body.data ?? [];
}
