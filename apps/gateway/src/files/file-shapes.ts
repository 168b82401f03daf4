import type { JsonObject } from '@llm0/core/chat/json';
import type { StoredFile } from '@llm0/drizzle/queries/batches/files';
import { PREFIXES, showId } from './own-ids';

/** One vendor's format of the same files. */
export interface FileShape {
  show(file: StoredFile): JsonObject & { id: string };
  showDeleted(id: string): JsonObject;
  showPage(data: readonly (JsonObject & { id: string })[], hasMore: boolean): JsonObject;
  /** Query parameter that goes on behind a row. */
  readonly after: string;
  /** Of uploads without one; absent where they need it. */
  readonly purpose?: string;
  /** Form field with the seconds until the file goes. */
  readonly expirySeconds: string;
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** Source: https://platform.openai.com/docs/api-reference/files/object */
export const OPENAI_FILES: FileShape = {
  show: ({ id, name, purpose, bytes, createdAtMs, expiresAtMs }) => ({
    ...{ id: showId(PREFIXES.file, id), object: 'file', bytes, created_at: seconds(createdAtMs), filename: name },
    ...{ purpose, status: 'processed', expires_at: expiresAtMs === null ? null : seconds(expiresAtMs) },
  }),
  showDeleted: (id) => ({ id, object: 'file', deleted: true }),
  showPage: (data, hasMore) => ({ object: 'list', data: [...data], ...endsOf(data), has_more: hasMore }),
  after: 'after',
  expirySeconds: 'expires_after[seconds]',
};

/** Source: https://platform.claude.com/docs/en/api/beta/files */
export const ANTHROPIC_FILES: FileShape = {
  show: ({ id, name, bytes, createdAtMs, expiresAtMs }) => ({
    ...{ id: showId(PREFIXES.file, id), type: 'file', filename: name, size_bytes: bytes, downloadable: true },
    mime_type: Bun.file(name).type.replace(/;.*/, ''),
    created_at: new Date(createdAtMs).toISOString(),
    expires_at: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
  }),
  showDeleted: (id) => ({ id, type: 'file_deleted' }),
  showPage: (data, hasMore) => ({
    ...{ data: [...data], ...endsOf(data), has_more: hasMore },
    next_page: hasMore ? (data.at(-1)?.id ?? null) : null,
  }),
  after: 'page',
  purpose: 'user_data',
  expirySeconds: 'expires_in_seconds',
};

const endsOf = (data: readonly { readonly id: string }[]): JsonObject => ({
  ...{ first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null },
});
