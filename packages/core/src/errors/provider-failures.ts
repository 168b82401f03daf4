import type { ErrorKind } from './gateway-error';

/** Error codes for which the provider is at fault: not the caller, a limit or the gateway. */
export const PROVIDER_FAILURES = [
  'upstream_error',
  'upstream_unavailable',
  'upstream_rate_limited',
  'upstream_timeout',
] as const satisfies readonly ErrorKind[];
