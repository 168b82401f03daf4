/** For addresses that the gateway itself calls: it says so before one is refused. */
export const EGRESS_HINT = 'EGRESS_ALLOW has to name a private address.';
