const encoder = new TextEncoder();

/** Interval of keep-alive messages. */
export const KEEP_ALIVE_MS = 15_000;
export const KEEP_ALIVE = encoder.encode(': keep-alive\n\n');

export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

/** One message as an event. Line ends occur only between JSON values, where a space is equivalent. */
export function encodeFrame(json: string): Uint8Array {
  const line = json.includes('\n') || json.includes('\r') ? json.replaceAll('\n', ' ').replaceAll('\r', ' ') : json;
  return encoder.encode(`event: message\ndata: ${line}\n\n`);
}
