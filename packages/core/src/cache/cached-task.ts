import { mapInSlices } from '../async/time-slices';
import { type JsonObject, parseJson } from '../chat/json';
import type { Usage } from '../chat/usage';
import { digestJsonInSlices } from '../chat/write-json-in-slices';
import type { TaskRequest } from '../tasks/task-request';

/** A complete answer of a task, for the exact cache and for replays. */
export interface CachedTask<A extends JsonObject = JsonObject> {
  readonly provider: string;
  readonly model: string;
  readonly answer: A;
  readonly usage: Usage;
  /** Cost that a hit saves. Integer nano-USD. */
  readonly costNanoUsd: number;
}

const VERSION = 'task-1';

/** undefined for anything this version did not write: a damaged or foreign entry is a miss, never an error. */
export const CACHED_TASK_CODEC = {
  encode: (stored: CachedTask): string => JSON.stringify({ v: VERSION, ...stored }),
  decode: (text: string): CachedTask | undefined => {
    const value = parseJson(text) as (CachedTask & { readonly v?: string }) | null | undefined;
    return value?.v === VERSION && typeof value.answer === 'object' ? value : undefined;
  },
};

/** SHA-256 (hex) of all that changes the answer: the fields, and the bytes of files. */
export async function digestTask(dialect: string, request: TaskRequest): Promise<string> {
  const { model: _model, stream: _stream, user: _user, extra, ...fields } = request;
  const own = Object.entries(extra).sort(([a], [b]) => (a < b ? -1 : 1));
  return digestJsonInSlices([dialect, await withHashes(fields), own]);
}

/** Files count by a hash of their bytes, however these were cut on their way. */
async function withHashes(value: unknown): Promise<unknown> {
  if (Array.isArray(value)) {
    if (value.length === 0 || !value.every((one) => one instanceof Uint8Array))
      return Promise.all(value.map(withHashes));
    const hasher = new Bun.CryptoHasher('sha256');
    await mapInSlices(value, (piece) => void hasher.update(piece));
    return hasher.digest('hex');
  }
  if (typeof value !== 'object' || value === null) return value ?? null;
  const named = 'pieces' in value && 'name' in value ? { ...value, name: extensionOf(String(value.name)) } : value;
  const present = Object.entries(named).filter(([, one]) => one !== undefined);
  const entries = present.map(async ([name, one]) => [name, await withHashes(one)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** Vendors may tell a file's format by the end of its name; the rest says nothing about the answer. */
const extensionOf = (name: string): string => /\.[A-Za-z0-9]{1,8}$/.exec(name)?.[0].toLowerCase() ?? '';

/** `scope`: the route, as in `exactCacheKey`. */
export function taskCacheKey(
  { projectId, scope }: { readonly projectId: string; readonly scope: string },
  digest: string,
): string {
  return Bun.CryptoHasher.hash('sha256', `${VERSION}\n${projectId}\n${scope}\n${digest}`, 'hex');
}
