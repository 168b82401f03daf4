import { invalidRequest } from '@llm0/core/errors/gateway-error';
import type { FileRest, FormFrame, SentFile } from '@llm0/core/tasks/task-request';

export interface FormBody {
  readonly contentType: string;
  readonly body: Blob | ReadableStream<Uint8Array>;
  /** Bytes of a stream, where they are known: in chunks, each byte would be copied once more. */
  readonly length?: number | undefined;
}

export type FormField = readonly [name: string, value: string | SentFile];

/** A form with fields and files. The runtime's own copies each file several times. */
export function formBody(fields: readonly FormField[]): FormBody {
  const file = fields.map(([, value]) => value).find((value) => typeof value !== 'string' && value.rest !== undefined);
  const rest = typeof file === 'object' ? file.rest : undefined;
  const boundary = boundaryFor(rest?.frame);
  const parts: BlobPart[] = [];
  for (const [name, value] of fields) {
    parts.push(`--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`);
    if (typeof value === 'string') parts.push(`\r\n\r\n${value}\r\n`);
    else {
      parts.push(`; filename="${quoted(value.name)}"\r\nContent-Type: ${headerValue(value.type)}\r\n\r\n`);
      parts.push(...(value.pieces as readonly Uint8Array<ArrayBuffer>[]), '\r\n');
    }
  }
  const contentType = `multipart/form-data; boundary=${boundary}`;
  // The last part is the file: its line end comes behind the rest.
  if (rest !== undefined) return { contentType, ...streamForm(parts.slice(0, -1) as StartPart[], rest, boundary) };
  parts.push(`--${boundary}--\r\n`);
  return { contentType, body: new Blob(parts) };
}

/** Shorter boundaries could be in a file by chance. */
const LEAST_BOUNDARY = 20;

/** As long as the caller's, so that both forms are. */
function boundaryFor(frame: FormFrame | undefined): string {
  const random = `llm0-${crypto.randomUUID()}`;
  return isKept(frame)
    ? random.replaceAll('-', '').padEnd(frame.boundaryLength, '-').slice(0, frame.boundaryLength)
    : random;
}

const isKept = (frame: FormFrame | undefined): frame is FormFrame =>
  frame !== undefined && frame.boundaryLength >= LEAST_BOUNDARY;

type StartPart = string | Uint8Array;

/** A form whose last part is still on its way. */
function streamForm(start: readonly StartPart[], rest: FileRest, boundary: string): Omit<FormBody, 'contentType'> {
  const left = isKept(rest.frame) ? rest.frame.bytes : undefined;
  // One write: each takes the runtime a tenth of a millisecond, however short it is.
  const begin = Buffer.concat(start.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  async function* pieces() {
    yield begin;
    let sent = 0;
    for await (const bytes of rest.open()) {
      sent += bytes.byteLength;
      yield bytes;
    }
    yield endOf(rest, boundary, left === undefined ? undefined : left - sent);
  }
  const length = left && begin.byteLength + left;
  return { body: pulled(pieces()), length };
}

const MOST_FILLED = 64 * 1024;

/** The fields behind the file, and the end: together `length` bytes, as the caller's were. */
function endOf(rest: FileRest, boundary: string, length: number | undefined): Buffer {
  let fields = '';
  for (const [name, value] of rest.later()) {
    fields += `\r\n--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}`;
  }
  const end = Buffer.from(`${fields}\r\n--${boundary}--`);
  if (length === undefined) return Buffer.concat([end, Buffer.from('\r\n')]);
  if (end.byteLength > length || length - end.byteLength > MOST_FILLED) {
    throw rest.blame(invalidRequest('', 'Put the fields of this form in front of "file".'));
  }
  // Headers of the caller's that are left out make it shorter; nobody reads behind the end.
  const filled = Buffer.alloc(length, '\r\n');
  end.copy(filled);
  return filled;
}

/** Reads no piece before it is wanted. A direct stream of Bun's, as queues of pieces cost an upload a tenth of its CPU. */
export function pulled(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  let isCancelled = false;
  const source: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: 'direct',
    async pull(controller) {
      for await (const piece of pieces) {
        await controller.write(piece as Uint8Array<ArrayBuffer>);
        if (isCancelled) return;
      }
      controller.close();
    },
    async cancel() {
      isCancelled = true;
      await pieces.return(undefined);
    },
  };
  // Browsers' types hide the runtime's.
  return new ReadableStream<Uint8Array>(source as unknown as UnderlyingDefaultSource<Uint8Array>);
}

/** As browsers write names. */
const quoted = (text: string) => text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');

/** Callers choose it: nothing that could begin another header. */
const headerValue = (type: string) => (/^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? type : 'application/octet-stream');

/** A file as a `data:` URL, for vendors that take JSON. */
export function dataUrl({ type, pieces }: SentFile): string {
  return `data:${headerValue(type)};base64,${Buffer.concat(pieces).toString('base64')}`;
}
