import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { SentFile, TaskRequest } from '@llm0/core/tasks/task-request';
import type { TaskBody, TaskDialect } from '../../dialects/dialect';
import type { Services, UnderWay } from '../../services/contract';

type Needs = Pick<Services, 'config' | 'files' | 'clock'>;

interface JsonForm {
  readonly body: JsonObject;
  readonly underWay: UnderWay;
  readonly projectId: string;
  readonly referencesOf: NonNullable<TaskDialect<TaskRequest, JsonObject>['referencesOf']>;
}

/** A form that came as JSON: its files by reference, within MAX_BODY_BYTES together. Throws as `readOwnFile`. */
export async function readReferences(
  services: Needs,
  { body, underWay, projectId, referencesOf }: JsonForm,
): Promise<TaskBody> {
  const { fields, references } = referencesOf(body);
  let left = services.config.maxBodyBytes;
  const files: [string, SentFile][] = [];
  for (const { field, param, source } of references) {
    const file = 'fileId' in source ? await readOwn({ shownId: source.fileId, param, left }) : decode(source);
    const bytes = file.pieces[0]?.byteLength ?? 0;
    left -= bytes;
    if (left < 0) throw new GatewayError('request_too_large', 'The files of this request are too large.', { param });
    files.push([field, file]);
  }
  return { fields, files };

  async function readOwn({ shownId, param, left: maxBytes }: { shownId: string; param: string; left: number }) {
    const take = (bytes: number) => underWay.held.take(COPIES * bytes);
    const asked = { projectId, shownId, param, nowMs: services.clock.nowMs(), maxBytes, take };
    const { name, type, bytes } = await services.files.readOwn(asked);
    return { name, type, pieces: [bytes] };
  }
}

/** A file is held as it was read, and by the runtime that sends it. */
const COPIES = 2;

function decode({ type, base64 }: { readonly type: string; readonly base64: string }): SentFile {
  return { name: `picture.${type.slice(type.indexOf('/') + 1)}`, type, pieces: [Buffer.from(base64, 'base64')] };
}
