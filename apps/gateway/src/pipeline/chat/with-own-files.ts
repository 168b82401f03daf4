// Without Postgres or the file store, requests that name files get a 503 or 500; others work.
import type { JsonObject } from '@llm0/core/chat/json';
import { inlineFiles } from '@llm0/core/chat/own-files';
import type { Services } from '../../services/contract';

interface NamedFiles {
  readonly httpRequest: Request;
  readonly body: JsonObject;
  readonly projectId: string;
}

/** The request with its project's files in it, together within MAX_BODY_BYTES; undefined if it names none that can be put. */
export async function withOwnFiles(
  { files, clock, config }: Pick<Services, 'files' | 'clock' | 'config'>,
  { httpRequest, body, projectId }: NamedFiles,
): Promise<Request | undefined> {
  let maxBytes = config.maxBodyBytes;
  const whole = await inlineFiles(body, async (shownId, param) => {
    const file = await files.readOwn({ projectId, shownId, param, nowMs: clock.nowMs(), maxBytes });
    maxBytes -= file.bytes.byteLength;
    return { name: file.name, type: file.type, base64: file.bytes.toBase64() };
  });
  if (whole === body) return undefined;
  const text = JSON.stringify(whole);
  const headers = new Headers(httpRequest.headers);
  headers.set('Content-Length', String(Buffer.byteLength(text)));
  return new Request(httpRequest.url, { method: 'POST', headers, body: text, signal: httpRequest.signal });
}
