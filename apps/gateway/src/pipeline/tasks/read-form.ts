import { boundedBody, declaredLength, takeRoom } from '@llm0/core/async/bounded-body';
import { letGo } from '@llm0/core/async/time-slices';
import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { boundaryOf, FormDecoder, type FormPart } from '@llm0/core/forms/decode-form';
import type { SentFile } from '@llm0/core/tasks/task-request';
import type { TaskBody } from '../../dialects/dialect';
import type { Services, UnderWay } from '../../services/contract';

/** A file is held as it came, as it leaves, and by the runtime that sends it. */
const FORM_FACTOR = 4;
const MAX_FIELD_BYTES = 1024 * 1024;
const MAX_PARTS = 100;

/** Content-Type of a body by its kind. Small clients send JSON without a type of their own. */
const TYPES = {
  json: ['application/json', '', 'text/plain'],
  form: ['multipart/form-data'],
  audio: ['multipart/form-data'],
} as const satisfies Record<string, readonly string[]>;

/** True for a body that says it is JSON. */
export const isJson = ({ headers }: Pick<Request, 'headers'>): boolean => typeOf(headers) === 'application/json';

const typeOf = (headers: Headers): string => headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';

/** Throws 415 for a compressed body, or one of another kind. */
export function checkBodyType({ headers }: Pick<Request, 'headers'>, kind: keyof typeof TYPES): void {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity') {
    const message = `The body is compressed (Content-Encoding "${encoding.slice(0, 80)}"). Send it as it is.`;
    throw new GatewayError('invalid_request', message, { status: 415, param: 'Content-Encoding' });
  }
  const type = typeOf(headers);
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
): Promise<OpenForm> {
  const boundary = boundaryOf(httpRequest.headers.get('content-type') ?? '');
  const { maxBodyBytes: maxBytes } = config;
  const declared = declaredLength(httpRequest.headers, maxBytes);
  const parts: OpenPart[] = [];
  const decoder = new FormDecoder(boundary, {
    begin: (part) => {
      if (parts.length >= MAX_PARTS) throw invalidRequest('', `A form may have at most ${MAX_PARTS} parts.`);
      parts.push({ ...part, pieces: [], size: 0 });
    },
    data: (bytes) => addTo(parts.at(-1), bytes),
    end: () => {},
  });
  const room = await takeRoom(declared, { take: (bytes) => underWay.held.take(FORM_FACTOR * bytes) });
  if (httpRequest.body !== null) {
    for await (const chunk of boundedBody(httpRequest.body, { maxBytes, ...room })) decoder.push(chunk);
  }
  decoder.finish();
  return { ...bodyOf(parts), close: () => freeAll(parts) };
}

/** A form whose files are there until it is closed. */
export interface OpenForm extends TaskBody {
  readonly close: () => Promise<void>;
}

/** The collector would notice too late that large buffers are garbage. */
async function freeAll(parts: readonly OpenPart[]): Promise<void> {
  let isLarge = false;
  for (const { buffer } of parts.flatMap(({ pieces }) => pieces)) {
    if (!(buffer instanceof ArrayBuffer) || buffer.byteLength < SMALLEST_FREED) continue;
    buffer.transfer(0);
    isLarge = true;
  }
  if (isLarge) await letGo();
}

/** Smaller ones may be shared. */
const SMALLEST_FREED = 16 * 1024;

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
