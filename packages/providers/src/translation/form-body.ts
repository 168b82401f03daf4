import type { SentFile } from '@llm0/core/tasks/task-request';

export interface FormBody {
  readonly contentType: string;
  readonly body: Blob;
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
  parts.push(`--${boundary}--\r\n`);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: new Blob(parts) };
}

/** As browsers write names. */
const quoted = (text: string) => text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');

/** Callers choose it: nothing that could begin another header. */
const headerValue = (type: string) => (/^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? type : 'application/octet-stream');

/** A file as a `data:` URL, for vendors that take JSON. */
export function dataUrl({ type, pieces }: SentFile): string {
  return `data:${headerValue(type)};base64,${Buffer.concat(pieces).toString('base64')}`;
}
