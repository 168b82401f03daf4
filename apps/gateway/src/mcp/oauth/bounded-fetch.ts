import { GatewayError } from '@llm0/core/errors/gateway-error';

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** Fetches metadata and tokens from URLs that a server names: the same egress rules, and small answers. */
export function createOauthFetch(pinned: typeof globalThis.fetch, alias: string) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const response = await pinned(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > MAX_BYTES)
        throw new GatewayError('upstream_error', `${alias}: its authorization server sent too large an answer.`);
      chunks.push(chunk);
    }
    const { status, statusText, headers } = response;
    const body = status === 204 || status === 304 ? null : Buffer.concat(chunks);
    return new Response(body, { status, statusText, headers });
  };
}

export type OauthFetch = ReturnType<typeof createOauthFetch>;
