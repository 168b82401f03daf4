import { boundedBody, declaredLength } from '@llm0/core/async/bounded-body';
import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { boundaryOf, FormDecoder, type FormPart } from '@llm0/core/forms/decode-form';
import type { SentFile } from '@llm0/core/tasks/task-request';
import type { TaskBody } from '../../dialects/dialect';
import type { Services, UnderWay } from '../../services/contract';
import { readRequestBody } from '../request/read-request';

type Needs = Pick<Services, 'config' | 'bodyDeadlines'>;

const FORM = 'multipart/form-data';
const JSON_TYPE = 'application/json';
/** A file is held once as it came, and once as it leaves. */
const FORM_FACTOR = 2;
const MAX_FIELD_BYTES = 1024 * 1024;
const MAX_PARTS = 100;

/** Reads the body of one kind; 415 for another. */
export async function readTaskBody(
  services: Needs,
  httpRequest: Request,
  { underWay, body: kind }: { readonly underWay: UnderWay; readonly body: 'json' | 'form' },
): Promise<TaskBody> {
  const contentType = httpRequest.headers.get('content-type') ?? '';
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const wanted = kind === 'form' ? FORM : JSON_TYPE;
  // Small clients send JSON without a type of their own.
  const isWanted = type === wanted || (kind === 'json' && (type === '' || type === 'text/plain'));
  if (!isWanted) throw wrongType(type, wanted);
  if (kind === 'form') return readForm(services, httpRequest, { boundary: boundaryOf(contentType), underWay });
  return { fields: (await readRequestBody(services, httpRequest, underWay)).body, files: [] };
}

function wrongType(type: string, wanted: string): GatewayError {
  const message = `The body must be ${wanted}, but its Content-Type is "${type.slice(0, 80)}".`;
  return new GatewayError('invalid_request', message, { status: 415, param: 'Content-Type' });
}

async function readForm(
  { config }: Pick<Needs, 'config'>,
  httpRequest: Request,
  { boundary, underWay }: { readonly boundary: string; readonly underWay: UnderWay },
): Promise<TaskBody> {
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
