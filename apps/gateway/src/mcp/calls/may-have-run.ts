/**
 * Statuses that mean "not started": not implemented, unavailable, too busy, or a proxy without its server.
 * https://developers.cloudflare.com/support/troubleshooting/http-status-codes/
 */
const NOT_BEGUN: ReadonlySet<number> = new Set([501, 503, 505, 511, 521, 522, 523, 525, 526, 529, 530]);
/** A proxy in between gave up on started work. */
const GAVE_UP: ReadonlySet<number> = new Set([408, 499]);

/** True where a call that was answered with this status, none of success, may have run all the same. */
export const mayHaveRun = (status: number): boolean => GAVE_UP.has(status) || (status >= 500 && !NOT_BEGUN.has(status));
