// A webhook that is refused, unreachable or slow (10 s): the call throws; the alert's next check makes it again.
import { type EgressOptions, pinUrl } from '@llm0/providers/transport/egress/fetch-guarded';

const TIMEOUT_MS = 10_000;

/** Posts JSON to a URL an operator gave. Throws unless it was answered with 2xx. */
export type PostWebhook = (url: string, body: object) => Promise<void>;

export interface WebhookNeeds {
  readonly fetch: typeof globalThis.fetch;
  readonly egress: Pick<EgressOptions, 'allowedHosts' | 'allowedRanges'>;
}

/** The address is checked and pinned as for every URL from outside; redirects are not followed. */
export function createPostWebhook({ fetch, egress }: WebhookNeeds): PostWebhook {
  return async (url, body) => {
    const target = await pinUrl(url, egress);
    const response = await fetch(target.url, {
      method: 'POST',
      headers: { host: target.host, 'content-type': 'application/json', 'user-agent': 'llm0-gateway' },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      tls: target.serverName === undefined ? {} : { serverName: target.serverName },
    } as RequestInit);
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the webhook answered with status ${response.status}`);
  };
}
