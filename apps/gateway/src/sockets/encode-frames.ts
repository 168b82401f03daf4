import { isObject, parseJson } from '@llm0/core/chat/json';

/** Code of the vendor's clients, which then send the whole input. */
const UNKNOWN_PREVIOUS = 'previous_response_not_found';

/** A refusal by the connection itself. Source: https://developers.openai.com/api/docs/guides/websocket-mode */
export function refusalFrame(code: string, message: string, param?: string): string {
  const error = { type: 'invalid_request_error', code, message, ...(param === undefined ? {} : { param }) };
  return JSON.stringify({ type: 'error', status: 400, error });
}

/** An error answer with its status and headers, as clients of this protocol expect it. */
export async function errorFrame(response: Response): Promise<string> {
  const body = parseJson(await response.text());
  const given = isObject(body) && isObject(body.error) ? body.error : {};
  const isUnknown = given.code === 'not_found' && given.param === 'previous_response_id';
  const error = isUnknown ? { ...given, code: UNKNOWN_PREVIOUS } : given;
  const { 'content-type': _, ...headers } = Object.fromEntries(response.headers);
  return JSON.stringify({ type: 'error', status: response.status, error, headers });
}

/** The frame with the name of its stream. */
export function withStream(frame: string, streamId: string | undefined): string {
  return streamId === undefined ? frame : `{"stream_id":${JSON.stringify(streamId)},${frame.slice(1)}`;
}
