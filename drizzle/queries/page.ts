import { GatewayError } from '@llm0/core/errors/gateway-error';
import { and, desc, eq, lt, or, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';

/** A list as the admin API takes it: newest first. */
export interface PageRequest {
  /** 1–1000. */
  readonly limit: number;
  /** `nextCursor` of the page before; opaque. */
  readonly cursor?: string;
}

export interface Page<T> {
  readonly data: readonly T[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

interface Position {
  readonly createdAtMs: number;
  readonly id: string;
}

export function encodeCursor(position: Position): string {
  return Buffer.from(`${position.createdAtMs},${position.id}`).toString('base64url');
}

/** Throws `invalid_request` (param `cursor`) for a foreign cursor. */
export function decodeCursor(cursor: string): Position {
  const match = /^(\d{1,15}),([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(
    Buffer.from(cursor, 'base64url').toString(),
  );
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new GatewayError(
      'invalid_request',
      'cursor is not one this API gave out: use next_cursor of the page before',
      {
        param: 'cursor',
      },
    );
  }
  return { createdAtMs: Number(match[1]), id: match[2] };
}

/** Condition for the rows after the cursor; undefined on the first page. */
export function afterCursor(page: PageRequest, createdAt: PgColumn, id: PgColumn): SQL | undefined {
  if (page.cursor === undefined) return undefined;
  const position = decodeCursor(page.cursor);
  const { createdAtMs: atMs } = position;
  return or(lt(createdAt, atMs), and(eq(createdAt, atMs), lt(id, position.id)));
}

export const newestFirst = (createdAt: PgColumn, id: PgColumn): [SQL, SQL] => [desc(createdAt), desc(id)];

/** Cuts the one row asked for beyond the limit off again. */
export function toPage<T extends Position>(rows: readonly T[], limit: number): Page<T> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(last) : null };
}
