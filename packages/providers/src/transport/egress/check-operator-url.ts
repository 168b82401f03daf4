import { GatewayError } from '@llm0/core/errors/gateway-error';
import { isUnresolved } from '../upstream-failure';
import { type EgressOptions, pinUrl } from './fetch-guarded';

/** Throws `invalid_request` for an operator's URL that leads to where requests may not go, or to nowhere. */
export async function checkOperatorUrl(
  url: string,
  egress: Pick<EgressOptions, 'allowedHosts' | 'allowedRanges' | 'resolve'>,
): Promise<void> {
  try {
    await pinUrl(url, egress);
  } catch (cause) {
    if (!(cause instanceof GatewayError)) throw cause;
    const hint = isUnresolved(cause) ? '' : ' EGRESS_ALLOW names private hosts and ranges that may be reached.';
    throw new GatewayError('invalid_request', `url: ${cause.message}${hint}`, { param: 'url', cause });
  }
}
