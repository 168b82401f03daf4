import { z } from '@hono/zod-openapi';
import { invalidRequest } from '@llm0/core/errors/gateway-error';

const namesSchema = z.tuple([z.string(), z.string()]);

/** Names of the last row of a page whose list is in their order. */
export type LastNames = z.infer<typeof namesSchema>;

export const writeCursor = (names: LastNames): string => Buffer.from(JSON.stringify(names)).toString('base64url');

/** Throws `invalid_request` (param `cursor`) for a foreign cursor. */
export function readCursor(cursor: string): LastNames {
  try {
    return namesSchema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch (cause) {
    throw invalidRequest('cursor', 'cursor is not one this API gave out: use next_cursor of the page before.', cause);
  }
}
