// A webhook that is refused, unreachable or slow (10 s): the call throws; the alert's next check makes it again.
import { type EgressOptions, pinUrl } from '@llm0/providers/transport/egress/fetch-guarded';
import { postPinned } from '@llm0/providers/transport/egress/post-guarded';

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
    const headers = { 'content-type': 'application/json' };
    const request = { fetch, headers, body: JSON.stringify(body) };
    const response = await postPinned(target, request, AbortSignal.timeout(TIMEOUT_MS));
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the webhook answered with status ${response.status}`);
  };
}
