// Without Postgres or the file store, requests that name files get a 503 or 500; others work.
import type { JsonObject } from '@llm0/core/chat/json';
import { LARGE_JSON_LENGTH } from '@llm0/core/chat/json-in-slices';
import { inlineFiles } from '@llm0/core/chat/own-files';
import type { Services, UnderWay } from '../../services/contract';

interface NamedFiles {
  readonly body: JsonObject;
  readonly projectId: string;
  readonly underWay: Pick<UnderWay, 'takeBody'>;
}

/** The body with its project's files in it, together within MAX_BODY_BYTES; undefined if it names none that can be put. */
export async function withOwnFiles(
  { files, clock, config }: Pick<Services, 'files' | 'clock' | 'config'>,
  { body, projectId, underWay }: NamedFiles,
): Promise<{ readonly body: JsonObject; readonly isLarge: boolean } | undefined> {
  let left = config.maxBodyBytes;
  const take = (bytes: number) => underWay.takeBody(bytes);
  const whole = await inlineFiles(body, async (shownId, param) => {
    const asked = { projectId, shownId, param, nowMs: clock.nowMs(), maxBytes: left, take };
    const { name, type, bytes } = await files.readOwn(asked);
    left -= bytes.byteLength;
    return { name, type, base64: bytes.toBase64() };
  });
  return whole === body ? undefined : { body: whole, isLarge: config.maxBodyBytes - left > LARGE_JSON_LENGTH };
}
