/** Error codes for which the gateway is at fault: not the caller, a limit or a provider. */
export const GATEWAY_FAILURES: readonly string[] = ['internal', 'overloaded', 'store_unavailable', 'gateway_lost'];
