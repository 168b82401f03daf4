/** The longest wait taken at a vendor's word: a day. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * Milliseconds until the vendor wants to be asked again: `retry-after-ms`, or `Retry-After` in seconds or as a date.
 * Source: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function readRetryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const exact = wholeMs(headers.get('retry-after-ms'), 1);
  if (exact !== undefined) return exact;
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = wholeMs(text, 1000);
  if (seconds !== undefined) return seconds;
  // A date contains letters; the runtime would accept `-5` as well.
  const dateMs = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : Math.min(Math.max(0, dateMs - nowMs), MAX_RETRY_AFTER_MS);
}

function wholeMs(text: string | null, unitMs: number): number | undefined {
  if (text === null || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Math.min(Math.ceil(Number(text) * unitMs), MAX_RETRY_AFTER_MS);
}
