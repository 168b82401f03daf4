import { untilGone } from '@llm0/core/async/until-gone';
import { type EgressOptions, type PinnedUrl, pinUrl } from './fetch-guarded';

export interface GuardedPostRequest
  extends Pick<EgressOptions, 'fetch' | 'resolve' | 'allowedHosts' | 'allowedRanges' | 'ca'> {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly maxAnswerBytes: number;
}

/**
 * Posts to an operator's URL, checked and pinned like every external URL; follows no redirects. Throws on failure or
 * when `signal` fires.
 */
export async function postGuarded(
  request: GuardedPostRequest,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly body: string }> {
  const target = await untilGone(pinUrl(request.url, request), signal);
  const headers = { 'accept-encoding': 'identity', ...request.headers };
  const response = await postPinned(target, { ...request, headers }, signal);
  return { status: response.status, body: await readBounded(response, request.maxAnswerBytes) };
}

/** The post itself, to where a checked URL was pinned; redirects are not followed. */
export function postPinned(
  target: PinnedUrl,
  { fetch, headers, body, ca }: Pick<GuardedPostRequest, 'fetch' | 'headers' | 'body' | 'ca'>,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(target.url, {
    method: 'POST',
    headers: { host: target.host, 'user-agent': 'llm0-gateway', ...headers },
    body,
    redirect: 'manual',
    signal,
    tls: { ...(target.serverName === undefined ? {} : { serverName: target.serverName }), ca },
  } as RequestInit);
}

async function readBounded({ body }: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  try {
    for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
      size += read.value.byteLength;
      if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
      chunks.push(read.value);
    }
  } finally {
    void reader?.cancel().catch(() => {});
  }
  return Buffer.concat(chunks).toString('utf8');
}
