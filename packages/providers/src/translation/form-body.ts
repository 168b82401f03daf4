import type { FileRest, SentFile } from '@llm0/core/tasks/task-request';

export interface FormBody {
  readonly contentType: string;
  readonly body: Blob | ReadableStream<Uint8Array>;
}

export type FormField = readonly [name: string, value: string | SentFile];

/** A form with fields and files. The runtime's own copies each file several times. */
export function formBody(fields: readonly FormField[]): FormBody {
  const boundary = `llm0-${crypto.randomUUID()}`;
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
  const file = fields.map(([, value]) => value).find((value) => typeof value !== 'string' && value.rest !== undefined);
  if (typeof file === 'object' && file.rest !== undefined) {
    // The last part is the file: its line end comes behind the rest.
    return { contentType, body: streamForm(parts.slice(0, -1) as StartPart[], file.rest, boundary) };
  }
  parts.push(`--${boundary}--\r\n`);
  return { contentType, body: new Blob(parts) };
}

type StartPart = string | Uint8Array;

/** A form whose last part is still on its way. */
function streamForm(start: readonly StartPart[], rest: FileRest, boundary: string): ReadableStream<Uint8Array> {
  async function* pieces() {
    for (const part of start) yield typeof part === 'string' ? Buffer.from(part) : part;
    yield* rest.open();
    let end = '\r\n';
    for (const [name, value] of rest.later()) {
      end += `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`;
    }
    yield Buffer.from(`${end}--${boundary}--\r\n`);
  }
  return pulled(pieces());
}

/** Reads no piece before it is wanted. */
export function pulled(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/** As browsers write names. */
const quoted = (text: string) => text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');

/** Callers choose it: nothing that could begin another header. */
const headerValue = (type: string) => (/^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? type : 'application/octet-stream');

/** A file as a `data:` URL, for vendors that take JSON. */
export function dataUrl({ type, pieces }: SentFile): string {
  return `data:${headerValue(type)};base64,${Buffer.concat(pieces).toString('base64')}`;
}
