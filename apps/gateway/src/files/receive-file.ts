// A file goes to the store as it arrives. What a broken upload left there is removed.
import { readBounded, tooLarge } from '@llm0/core/async/bounded-body';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import { boundaryOf } from '@llm0/core/forms/decode-form';
import { FormStream } from '../pipeline/tasks/form-stream';
import type { FileShape } from './file-shapes';
import type { FileStore } from './file-store';

const MIB = 1024 * 1024;
/** Of one file. */
export const MAX_FILE_BYTES = 512 * MIB;
/** Of a batch's input. */
export const MAX_BATCH_BYTES = 200 * MIB;
/** Fields around the file. */
const MAX_FORM_BYTES = MIB;
const MAX_NAME_LENGTH = 255;
const PURPOSES: ReadonlySet<string> = new Set(['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals']);
const EXPIRY_SECONDS = { min: 3600, max: 2_592_000 };

export interface ReceivedFile {
  readonly name: string;
  readonly purpose: string;
  readonly bytes: number;
  /** Absent: it stays until it is deleted. */
  readonly expiresAfterSeconds?: number;
}

interface Upload {
  readonly id: string;
  readonly request: Request;
  readonly shape: Pick<FileShape, 'purpose' | 'expirySeconds'>;
}

/** Reads the form of an upload. Throws `invalid_request` or `request_too_large`; nothing is in the store then. */
export async function receiveFile(store: FileStore, { id, request, shape }: Upload): Promise<ReceivedFile> {
  const boundary = boundaryOf(request.headers.get('content-type') ?? '');
  if (request.body === null) throw invalidRequest('file', 'The form must have a "file".');
  const form = new FormStream(boundary, readBounded(request.body, { maxBytes: MAX_FILE_BYTES + MAX_FORM_BYTES }));
  const fields = new Map<string, string>();
  let file: { readonly name: string; readonly bytes: number } | undefined;
  try {
    for (let event = await form.next(); event !== undefined; event = await form.next()) {
      if (!('begin' in event)) continue;
      const { name, fileName } = event.begin;
      if (fileName === undefined) {
        if (fields.has(name)) throw invalidRequest(name, `The form must have one "${name.slice(0, 100)}".`);
        fields.set(name, await form.text(name));
      } else if (name !== 'file' || file !== undefined) throw invalidRequest('file', 'The form must have one "file".');
      else {
        const most = mostBytes(fields.get('purpose'));
        file = {
          name: fileName.replaceAll('\0', '').slice(0, MAX_NAME_LENGTH),
          bytes: await store.write(id, bounded(form.data(), most)),
        };
      }
    }
    if (file === undefined) throw invalidRequest('file', 'The form must have a "file".');
    if (file.bytes === 0) throw invalidRequest('file', 'The file is empty.');
    return { ...file, ...readFields(fields, file.bytes, shape) };
  } catch (error) {
    if (file !== undefined) await store.remove(id);
    throw error;
  } finally {
    form.cancel();
  }
}

const mostBytes = (purpose: string | undefined): number => (purpose === 'batch' ? MAX_BATCH_BYTES : MAX_FILE_BYTES);

async function* bounded(data: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const bytes of data) {
    size += bytes.byteLength;
    if (size > most) throw tooLarge(most);
    yield bytes;
  }
}

function readFields(
  fields: ReadonlyMap<string, string>,
  bytes: number,
  shape: Upload['shape'],
): Pick<ReceivedFile, 'purpose' | 'expiresAfterSeconds'> {
  const purpose = fields.get('purpose') ?? shape.purpose;
  if (purpose === undefined || !PURPOSES.has(purpose)) {
    throw invalidRequest('purpose', `"purpose" must be one of ${[...PURPOSES].join(', ')}.`);
  }
  if (bytes > mostBytes(purpose)) throw tooLarge(mostBytes(purpose));
  const seconds = fields.get(shape.expirySeconds);
  const anchor = shape.purpose === undefined ? fields.get('expires_after[anchor]') : seconds && 'created_at';
  if (anchor === undefined && seconds === undefined) return { purpose };
  return { purpose, expiresAfterSeconds: readExpiry({ anchor, seconds: Number(seconds) }, 'expires_after') };
}

/** Seconds of OpenAI's `expires_after`. Throws `invalid_request`. */
export function readExpiry(given: { readonly anchor?: unknown; readonly seconds?: unknown }, param: string): number {
  const { anchor, seconds } = given;
  if (anchor !== 'created_at') throw invalidRequest(param, `"${param}.anchor" must be "created_at".`);
  const { min, max } = EXPIRY_SECONDS;
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= min && seconds <= max) return seconds;
  throw invalidRequest(param, `"${param}.seconds" must be a whole number from ${min} to ${max}.`);
}
