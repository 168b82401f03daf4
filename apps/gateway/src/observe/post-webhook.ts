// A webhook that is refused, unreachable or slow (10 s): the call throws; the alert's next check makes it again.
import { type EgressOptions, pinUrl } from '@llm0/providers/transport/egress/fetch-guarded';
import { postPinned } from '@llm0/providers/transport/egress/post-guarded';
import { isMailto, type SendMail } from './send-mail';

const TIMEOUT_MS = 10_000;

/** Posts JSON to a URL an operator gave, or mails its text. Throws unless it was taken. */
export type PostWebhook = (url: string, body: object) => Promise<void>;

export interface WebhookNeeds {
  readonly fetch: typeof globalThis.fetch;
  readonly egress: Pick<EgressOptions, 'allowedHosts' | 'allowedRanges'>;
  readonly sendMail: SendMail;
}

/** The address is checked and pinned as for every URL from outside; redirects are not followed. */
export function createPostWebhook({ fetch, egress, sendMail }: WebhookNeeds): PostWebhook {
  return async (url, body) => {
    if (isMailto(url)) return sendMail(url, body);
    const target = await pinUrl(url, egress);
    const headers = { 'content-type': 'application/json' };
    const request = { fetch, headers, body: JSON.stringify(body) };
    const response = await postPinned(target, request, AbortSignal.timeout(TIMEOUT_MS));
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the webhook answered with status ${response.status}`);
  };
}
