import type { McpServer } from '@llm0/core/mcp/server';
import {
  type FetchedAnswer,
  fetchUpstream,
  refuseRedirect,
  untilHeaders,
} from '@llm0/providers/transport/fetch-upstream';

/** How a server's HTTP endpoint is reached. */
export interface Endpoint {
  readonly server: McpServer & { readonly url: string };
  /** Guarded and pinned. */
  readonly fetch: typeof globalThis.fetch;
  /** What the server is told to know the gateway by. */
  readonly credentials: Readonly<Record<string, string>>;
}

export interface Posting {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  // A compressed stream is held back until a block is full.
  'accept-encoding': 'identity',
} as const;

/** Sends one message. Redirects are refused; throws failure `timeout` or `connection`, or `client_closed`. */
export function postMessage({ server, fetch, credentials }: Endpoint, posting: Posting): Promise<FetchedAnswer> {
  return fetchUpstream({
    provider: server.alias,
    request: {
      url: server.url,
      method: 'POST',
      headers: { ...credentials, ...JSON_HEADERS, ...posting.headers },
      body: posting.body,
      dropped: [],
    },
    timeoutMs: server.timeoutMs,
    signal: posting.signal,
    fetch,
  });
}

/** Opens the stream of a session's notifications. */
export function openStream(
  { server, fetch, credentials }: Endpoint,
  { headers, signal }: Omit<Posting, 'body'>,
): Promise<FetchedAnswer> {
  const { alias: provider, timeoutMs, url } = server;
  return untilHeaders({ provider, timeoutMs, signal }, async (whileWaiting, startTimer) => {
    startTimer();
    const response = await fetch(url, {
      headers: { ...credentials, accept: 'text/event-stream', ...headers },
      redirect: 'manual',
      signal: whileWaiting,
      timeout: false,
    } as RequestInit);
    refuseRedirect(provider, response);
    return { response };
  });
}

/** Ends a session; nobody waits for it, and a server that takes no offence may refuse. */
export function deleteSession(
  { server, fetch, credentials }: Endpoint,
  headers: Readonly<Record<string, string>>,
): void {
  const signal = AbortSignal.timeout(Math.min(server.timeoutMs, 5000));
  fetch(server.url, { method: 'DELETE', headers: { ...credentials, ...headers }, redirect: 'manual', signal }).then(
    (response) => void response.body?.cancel().catch(() => {}),
    () => {},
  );
}
