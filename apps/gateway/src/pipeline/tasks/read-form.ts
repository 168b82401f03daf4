import { boundedBody, declaredLength } from '@llm0/core/async/bounded-body';
import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { boundaryOf, FormDecoder, type FormPart } from '@llm0/core/forms/decode-form';
import type { SentFile } from '@llm0/core/tasks/task-request';
import type { TaskBody } from '../../dialects/dialect';
import type { Services, UnderWay } from '../../services/contract';

/** A file is held once as it came, and once as it leaves. */
const FORM_FACTOR = 2;
const MAX_FIELD_BYTES = 1024 * 1024;
const MAX_PARTS = 100;

/** Content-Type of a body by its kind. Small clients send JSON without a type of their own. */
const TYPES = {
  json: ['application/json', '', 'text/plain'],
  form: ['multipart/form-data'],
  audio: ['multipart/form-data'],
} as const satisfies Record<string, readonly string[]>;

/** Throws 415 for a body of another kind. */
export function checkBodyType({ headers }: Pick<Request, 'headers'>, kind: keyof typeof TYPES): void {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  const types: readonly string[] = TYPES[kind];
  if (types.includes(type)) return;
  const message = `The body must be ${types[0]}, but its Content-Type is "${type.slice(0, 80)}".`;
  throw new GatewayError('invalid_request', message, { status: 415, param: 'Content-Type' });
}

/** Reads a form, bounded by MAX_BODY_BYTES. Throws `request_too_large`, `overloaded` or `invalid_request`. */
export async function readForm(
  { config }: Pick<Services, 'config'>,
  httpRequest: Request,
  underWay: UnderWay,
): Promise<TaskBody> {
  const boundary = boundaryOf(httpRequest.headers.get('content-type') ?? '');
  const { maxBodyBytes: maxBytes } = config;
  declaredLength(httpRequest.headers, maxBytes);
  const parts: OpenPart[] = [];
  const decoder = new FormDecoder(boundary, {
    begin: (part) => {
      if (parts.length >= MAX_PARTS) throw invalidRequest('', `A form may have at most ${MAX_PARTS} parts.`);
      parts.push({ ...part, pieces: [], size: 0 });
    },
    data: (bytes) => addTo(parts.at(-1), bytes),
    end: () => {},
  });
  const take = (bytes: number) => underWay.held.take(FORM_FACTOR * bytes);
  if (httpRequest.body !== null) {
    for await (const chunk of boundedBody(httpRequest.body, { maxBytes, take })) decoder.push(chunk);
  }
  decoder.finish();
  return bodyOf(parts);
}

interface OpenPart extends FormPart {
  readonly pieces: Uint8Array[];
  size: number;
}

function addTo(part: OpenPart | undefined, bytes: Uint8Array): void {
  if (part === undefined) return;
  part.size += bytes.byteLength;
  if (part.fileName === undefined && part.size > MAX_FIELD_BYTES) {
    throw invalidRequest(part.name.slice(0, 80), `A field of a form may have at most ${MAX_FIELD_BYTES} bytes.`);
  }
  part.pieces.push(bytes);
}

function bodyOf(parts: readonly OpenPart[]): TaskBody {
  const fields: JsonObject = {};
  const files: [string, SentFile][] = [];
  for (const { name, fileName, type, pieces } of parts) {
    // Several files come as `image[]`.
    const field = name.endsWith('[]') ? name.slice(0, -2) : name;
    if (fileName === undefined) fields[field] = Buffer.concat(pieces).toString('utf8');
    else files.push([field, { name: fileName, type: type ?? 'application/octet-stream', pieces }]);
  }
  return { fields, files };
}
