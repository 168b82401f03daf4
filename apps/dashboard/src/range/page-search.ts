import { isPreset } from './time-range';

const text = (value: unknown): string | undefined => {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
};
const textLike = (isRight: (given: string) => boolean) => (value: unknown) => {
  const given = text(value);
  return given !== undefined && isRight(given) ? given : undefined;
};
const uuid = textLike((given) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(given));
const number = textLike((given) => /^\d+(\.\d+)?$/.test(given));
const instant = textLike((given) => Number.isFinite(Date.parse(given)));
const oneOf =
  <T>(values: readonly T[]) =>
  (value: unknown) =>
    values.find((one) => one === value);

type Readers = Readonly<Record<string, (value: unknown) => string | undefined>>;
type ReadBy<R extends Readers> = { readonly [K in keyof R]?: NonNullable<ReturnType<R[K]>> };

/** What of an address makes sense; the rest is left out. */
const readBy = <R extends Readers>(readers: R, search: Record<string, unknown>): ReadBy<R> =>
  dropUndefined(
    Object.fromEntries(Object.entries(readers).map(([name, read]) => [name, read(search[name])])) as ReadBy<R>,
  );

/** What every page keeps in its address: range, zone, project. */
const PAGE = {
  range: (value: unknown) => (isPreset(value) ? value : undefined),
  from: instant,
  to: instant,
  tz: oneOf(['local'] as const),
  project: uuid,
};
export type PageSearch = ReadBy<typeof PAGE>;
export const readPageSearch = (search: Record<string, unknown>): PageSearch => readBy(PAGE, search);

export const STATUSES = ['success', 'rate_limited', 'cap_exceeded', 'aborted', 'error'] as const;
export const CACHES = ['exact', 'semantic', 'miss'] as const;

/** Filters of the requests, named as the API names them. */
const FILTER = {
  request_id: uuid,
  api_key_id: uuid,
  model: text,
  provider: text,
  status: oneOf(STATUSES),
  cache: oneOf(CACHES),
  customer_id: text,
  /** `name=value`. */
  label: textLike((given) => given.includes('=')),
  min_cost: number,
  min_latency: number,
  q: text,
};
export type RequestFilter = ReadBy<typeof FILTER>;
export const readRequestFilter = (search: Record<string, unknown>): RequestFilter => readBy(FILTER, search);

/** A filter as the query of `GET /logs`. */
export function toLogQuery(filter: RequestFilter): Record<string, string> {
  const { label, ...rest } = filter;
  const query: Record<string, string> = { ...dropUndefined(rest) };
  const cut = label?.indexOf('=') ?? -1;
  if (label !== undefined && cut > 0) query[`label.${label.slice(0, cut)}`] = label.slice(cut + 1);
  return query;
}

function dropUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T;
}
