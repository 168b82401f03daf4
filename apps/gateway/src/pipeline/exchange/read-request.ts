import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import { checkJsonBounds } from '@llm0/core/chat/json-bounds';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Services } from '../../services/contract';
import { boundedBody, tooLarge } from './bounded-body';

/** Reads and parses a request body, bounded by MAX_BODY_BYTES. Throws `request_too_large` or `invalid_json`. */
export async function readRequestBody(services: Pick<Services, 'config'>, request: Request): Promise<JsonObject> {
  const text = await readText(request, services.config.maxBodyBytes);
  checkJsonBounds(text);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw new GatewayError('invalid_json', `The request body is not valid JSON: ${describe(cause)}.`, { cause });
  }
  if (!isObject(value)) {
    throw new GatewayError('invalid_request', 'The request body must be a JSON object.');
  }
  return value;
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > maxBytes) throw tooLarge(maxBytes);
  if (declared !== null || request.body === null) {
    const text = await request.text();
    if (text.length > maxBytes) throw tooLarge(maxBytes);
    return text;
  }
  return new Response(boundedBody(request.body, { maxBytes })).text();
}

function describe(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.replace(/^JSON Parse error:\s*/i, '').slice(0, 120);
}
