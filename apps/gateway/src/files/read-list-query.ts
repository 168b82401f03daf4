import { invalidRequest } from '@llm0/core/errors/gateway-error';
import type { ListRequest } from '@llm0/drizzle/queries/batches/files';

interface ListRules {
  /** Rows without a `limit`, and at most. */
  readonly fallback: number;
  readonly most: number;
  /** The row of a shown id; undefined for any other text. */
  readonly idOf: (shown: string) => string | undefined;
  /** Parameters that go on behind a row, and that end in front of one. */
  readonly after?: string;
  readonly before?: string;
}

/** `limit`, `order` and the row to begin at. Throws `invalid_request`. */
export function readListQuery(
  query: URLSearchParams,
  { fallback, most, idOf, after = 'after', before }: ListRules,
): Omit<ListRequest, 'projectId'> {
  const limit = Number(query.get('limit') ?? fallback);
  if (!Number.isInteger(limit) || limit < 1 || limit > most) {
    throw invalidRequest('limit', `"limit" must be a whole number from 1 to ${most}.`);
  }
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw invalidRequest('order', '"order" must be "asc" or "desc".');
  const isBefore = before !== undefined && query.has(before);
  const param = isBefore ? before : after;
  const shown = query.get(param);
  if (shown === null) return { limit, order };
  const id = idOf(shown);
  if (id === undefined) throw invalidRequest(param, `"${param}" must be an id of the list.`);
  return { limit, order: isBefore ? 'asc' : order, after: id };
}
