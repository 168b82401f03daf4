import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { findFile } from '@llm0/drizzle/queries/batches/files';
import type { FileStore } from './file-store';
import { PREFIXES, readId } from './own-ids';

/** A caller's file by the id that it knows. */
export interface OwnFileQuestion {
  readonly projectId: string;
  readonly shownId: string;
  /** Where the request names it. */
  readonly param: string;
  readonly nowMs: number;
  readonly maxBytes: number;
  /** Takes memory before the content is read. */
  readonly take: (bytes: number) => Promise<void> | undefined;
}

export interface OwnFileContent {
  readonly name: string;
  /** By its first bytes; text where all of it is UTF-8. */
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Throws 404 for a file of no or another project, 413 beyond the bytes that are left. */
export async function readOwnFile(
  { db, store }: { readonly db: Db; readonly store: Pick<FileStore, 'read'> },
  { projectId, shownId, param, nowMs, maxBytes, take }: OwnFileQuestion,
): Promise<OwnFileContent> {
  const id = readId(PREFIXES.file, shownId);
  const file = id === undefined ? null : await findFile(db, { projectId, id }, nowMs);
  if (id === undefined || file === null) {
    throw new GatewayError('not_found', `No such File object: ${shownId.slice(0, 100)}`, { param });
  }
  if (file.bytes > maxBytes) {
    const message = `"${shownId}" has ${file.bytes} bytes. The files of a request may have ${maxBytes} together.`;
    throw new GatewayError('request_too_large', message, { param });
  }
  const room = take(file.bytes);
  if (room !== undefined) await room;
  const bytes = file.bytes === 0 ? new Uint8Array() : await new Response(store.read(id)).bytes();
  return { name: file.name, type: typeOf(bytes), bytes };
}

/** First bytes of the formats that models read. */
const SIGNATURES: readonly (readonly [type: string, offset: number, bytes: string])[] = [
  ['application/pdf', 0, '%PDF-'],
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
];
const SIGNATURE_BYTES = 12;

function typeOf(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, SIGNATURE_BYTES)).toString('latin1');
  const known = SIGNATURES.find(([, offset, first]) => start.startsWith(first, offset))?.[0];
  return known ?? (isText(bytes) ? 'text/plain' : 'application/octet-stream');
}

function isText(bytes: Uint8Array): boolean {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\0');
  } catch {
    return false;
  }
}
