/** For addresses that the gateway itself calls: it says so before one is refused. */
export const EGRESS_HINT = 'To reach a private address, add it to EGRESS_ALLOW.';
