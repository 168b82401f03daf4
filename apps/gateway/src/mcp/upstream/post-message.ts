import type { McpServer } from '@llm0/core/mcp/server';
import {
  type FetchedAnswer,
  fetchUpstream,
  refuseRedirect,
  untilHeaders,
} from '@llm0/providers/transport/fetch-upstream';
import type { Credentials } from './credentials';
import type { SentListener } from './upstream';

/** Connection to a server's HTTP endpoint. */
export interface Endpoint {
  readonly server: McpServer & { readonly url: string };
  /** Guarded and pinned. */
  readonly fetch: typeof globalThis.fetch;
  readonly credentials: Credentials;
}

export interface Posting {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly onSent?: SentListener | undefined;
}

const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  // A compressed stream is held back until a block is full.
  'accept-encoding': 'identity',
} as const;

/** Sends one message. Redirects are refused; throws failure `timeout` or `connection`, or `client_closed`. */
export async function postMessage(endpoint: Endpoint, posting: Posting): Promise<FetchedAnswer> {
  const first = await post(endpoint, posting);
  const { response } = first;
  if (response.status !== 401 && response.status !== 403) return first;
  // A server that refuses the credentials hasn't run anything.
  posting.onSent?.(false);
  if (!(await endpoint.credentials.refused(response))) return first;
  void response.body?.cancel().catch(() => {});
  return post(endpoint, posting);
}

async function post({ server, fetch, credentials }: Endpoint, posting: Posting): Promise<FetchedAnswer> {
  const known = credentials.headers();
  const headers = known instanceof Promise ? await known : known;
  posting.onSent?.(true);
  return fetchUpstream({
    provider: server.alias,
    request: {
      url: server.url,
      method: 'POST',
      headers: { ...headers, ...JSON_HEADERS, ...posting.headers },
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
  return untilHeaders({ provider, timeoutMs, signal }, async (wait) => {
    const known = await credentials.headers();
    wait.start();
    const response = await fetch(url, {
      headers: { ...known, accept: 'text/event-stream', ...headers },
      redirect: 'manual',
      signal: wait.signal,
      timeout: false,
    } as RequestInit);
    refuseRedirect(provider, response);
    return { response };
  });
}

/** Ends a session in the background; the server may refuse. */
export function deleteSession(
  { server, fetch, credentials }: Endpoint,
  headers: Readonly<Record<string, string>>,
): void {
  const signal = AbortSignal.timeout(Math.min(server.timeoutMs, 5000));
  const end = async () => {
    const known = await credentials.headers();
    const init = { method: 'DELETE', headers: { ...known, ...headers }, redirect: 'manual', signal } as const;
    const response = await fetch(server.url, init);
    await response.body?.cancel();
  };
  end().catch(() => {});
}
