import { OUTCOMES } from '@llm0/core/errors/outcome';
import { MODALITIES } from '@llm0/core/logs/log-record';
import { dropUndefined, oneOf, text, textLike, uuid } from './page-search';

export const CACHES = ['exact', 'semantic', 'miss'] as const;

const number = textLike((given) => /^\d+(\.\d+)?$/.test(given));
const whole = textLike((given) => /^\d{1,15}$/.test(given));

/** Filters with several values; `_not` after the name excludes them. */
const MANY = {
  model: text,
  answering_model: text,
  requested_model: text,
  provider: text,
  outcome: oneOf(OUTCOMES),
  http_status: textLike((given) => /^\d{3}$/.test(given)),
  error_code: text,
  cache: oneOf(CACHES),
  modality: oneOf(MODALITIES),
  guardrail: text,
  customer_id: text,
  api_key_id: uuid,
  /** `name=value`. */
  label: textLike((given) => given.indexOf('=') > 0),
};
const flag = (value: unknown) => oneOf(['true', 'false'] as const)(String(value));
const ONE = {
  ...{ failover_from: text, sent_to: text, failed_at: text, switch: text },
  ...{ min_cost: number, min_latency: number, max_latency: number },
  /** Duration that the latency bounds apply to. */
  latency_of: oneOf(['latency', 'ttft', 'overhead', 'upstream'] as const),
  ...{
    ...{ stream: flag, sent: flag },
    min_tokens: whole,
    max_tokens: whole,
  },
  ...{ request_id: uuid, run_id: text },
  trace_id: textLike((given) => /^[0-9a-f]{32}$/.test(given)),
  q: text,
};

export type ManyName = keyof typeof MANY;
export type OneName = keyof typeof ONE;
export const MANY_NAMES = Object.keys(MANY) as ManyName[];
export const ONE_NAMES = Object.keys(ONE) as OneName[];

/** A single value needs no list, which keeps addresses short. */
export type FilterValue = string | readonly string[];
/** Filters of the requests, named as the API names them. */
export type RequestFilter = {
  readonly [K in ManyName | `${ManyName}_not`]?: FilterValue;
} & { readonly [K in OneName]?: string };

export const valuesOf = (value: FilterValue | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value;

export function oneOrMany(values: readonly string[]): FilterValue | undefined {
  return values.length > 1 ? values : values[0];
}

/** Valid parameters of an address; others are dropped. */
export function readRequestFilter(given: object): RequestFilter {
  const search = given as Readonly<Record<string, unknown>>;
  const many = MANY_NAMES.flatMap((name) =>
    [name, `${name}_not`].map((key) => {
      // Addresses and views from before call the outcome a status.
      const found = search[key] ?? search[key.replace('outcome', 'status')];
      const given = Array.isArray(found) ? found : [found];
      const values = given.map(MANY[name]).filter((value) => value !== undefined);
      return [key, oneOrMany([...new Set(values)])];
    }),
  );
  const one = Object.entries(ONE).map(([name, read]) => [name, read(search[name])]);
  return dropUndefined(Object.fromEntries([...many, ...one]));
}

/** Longest list of them: an address may hold anything. */
const MOST_UNREAD = 5;
const MOST_LETTERS = 60;

/** Filters of an address with a value that no request has, as `name=value`: the page says that it leaves them out. */
export function listUnread(given: object): readonly string[] {
  const search = given as Readonly<Record<string, unknown>>;
  const many = MANY_NAMES.flatMap((name) => [name, `${name}_not`].map((key) => [key, MANY[name]] as const));
  const old = ['status', 'status_not'].map((key) => [key, MANY.outcome] as const);
  const unread = [...many, ...old, ...Object.entries(ONE)].flatMap(([key, read]) =>
    [search[key]]
      .flat()
      .filter((value) => value !== undefined && read(value) === undefined)
      .map((value) => `${key}=${text(value) ?? JSON.stringify(value)}`),
  );
  const before = [search.unread].flat().filter((one) => typeof one === 'string');
  return [...new Set([...before, ...unread])].slice(0, MOST_UNREAD).map((one) => one.slice(0, MOST_LETTERS));
}

type LogQuery = Record<string, string | string[]>;

/** A filter as the query of `GET /logs`. */
export function toLogQuery({ label, label_not: notLabel, ...rest }: RequestFilter): LogQuery {
  const plain = Object.entries(dropUndefined(rest)).map(([name, value]) => [name, asQuery(valuesOf(value))]);
  return { ...Object.fromEntries(plain), ...labelQuery('label', label), ...labelQuery('label_not', notLabel) };
}

const asQuery = (values: readonly string[]) => (values.length === 1 ? (values[0] ?? '') : [...values]);

function labelQuery(prefix: string, labels: FilterValue | undefined): LogQuery {
  const byName = Map.groupBy(
    valuesOf(labels).filter((label) => label.indexOf('=') > 0),
    (label) => label.slice(0, label.indexOf('=')),
  );
  return Object.fromEntries(
    [...byName].map(([name, all]) => [`${prefix}.${name}`, asQuery(all.map((one) => one.slice(name.length + 1)))]),
  );
}

/** The filter as a query of the address. */
export function toAddress(query: Readonly<Record<string, FilterValue | undefined>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => valuesOf(value).map((one) => [name, one]));
  return new URLSearchParams(pairs).toString();
}

/** Orders that the table can ask for: a field of the API, the largest first with a minus. */
export const readSort = textLike((given) => /^-?[a-z_]{2,30}$/.test(given));

export interface RequestsSearch extends RequestFilterFields {
  readonly live?: boolean;
  readonly sort?: string;
  /** The saved view that was taken last. */
  readonly view?: string;
  /** See `listUnread`; kept until removed. */
  readonly unread?: readonly string[];
}
type RequestFilterFields = RequestFilter;

const unlessEmpty = <T>(list: readonly T[]) => (list.length === 0 ? undefined : list);

export const readRequestsSearch = (search: Readonly<Record<string, unknown>>): RequestsSearch => ({
  ...readRequestFilter(search),
  ...dropUndefined({
    unread: unlessEmpty(listUnread(search)),
    sort: readSort(search.sort),
    view: uuid(search.view),
    live: search.live === true ? true : undefined,
  }),
});

/** A search for `429` means requests with that status. */
export const isHttpStatus = (typed: string): boolean => /^[1-5]\d\d$/.test(typed);
