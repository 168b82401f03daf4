import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Services } from '../../services/contract';

/** Reads and parses a request body, bounded by MAX_BODY_BYTES. Throws `request_too_large` or `invalid_json`. */
export async function readRequestBody(services: Pick<Services, 'config'>, request: Request): Promise<JsonObject> {
  const text = await readText(request, services.config.maxBodyBytes);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw new GatewayError('invalid_json', `The request body is not valid JSON: ${describe(cause)}.`, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
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
  return readChunked(request.body, maxBytes);
}

/** Bodies without a declared length are counted as they come, so that they can't fill the memory. */
async function readChunked(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return Buffer.concat(chunks).toString('utf8');
      bytes += value.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      chunks.push(value);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('request_too_large', `The request body is larger than ${maxBytes} bytes (MAX_BODY_BYTES).`);
}

function describe(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.replace(/^JSON Parse error:\s*/i, '').slice(0, 120);
}
