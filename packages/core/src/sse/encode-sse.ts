/** One server-sent event as text. Data with line ends is spread over several `data:` lines, as the format asks. */
export function encodeSse(data: string, event?: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  const body = /[\r\n]/.test(data) ? data.split(/\r\n|\r|\n/).join('\ndata: ') : data;
  return `${name}data: ${body}\n\n`;
}

/** The OpenAI-style end of a stream. */
export const SSE_DONE = 'data: [DONE]\n\n';
