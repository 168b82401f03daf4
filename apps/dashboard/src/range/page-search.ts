import { isPreset, type Preset, type RangeSearch } from './time-range';

/** What every page keeps in its address: range, zone, project; and the filters of the requests. */
export interface PageSearch extends RangeSearch {
  readonly range?: Preset;
  readonly tz?: 'local';
  readonly project?: string;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const text = (value: unknown): string | undefined => {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
};
const instant = (value: unknown) => {
  const given = text(value);
  return given !== undefined && Number.isFinite(Date.parse(given)) ? given : undefined;
};

/** Reads an address; what makes no sense is left out. */
export function readPageSearch(search: Record<string, unknown>): PageSearch {
  const project = text(search.project);
  return dropUndefined({
    range: isPreset(search.range) ? search.range : undefined,
    from: instant(search.from),
    to: instant(search.to),
    tz: search.tz === 'local' ? ('local' as const) : undefined,
    project: project !== undefined && UUID.test(project) ? project : undefined,
  });
}

export const STATUSES = ['success', 'rate_limited', 'cap_exceeded', 'aborted', 'error'] as const;
export const CACHES = ['exact', 'semantic', 'miss'] as const;

/** Filters of the requests, named as the API names them. */
export interface RequestFilter {
  readonly request_id?: string;
  readonly api_key_id?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly status?: (typeof STATUSES)[number];
  readonly cache?: (typeof CACHES)[number];
  readonly customer_id?: string;
  /** `name=value`. */
  readonly label?: string;
  readonly min_cost?: string;
  readonly min_latency?: string;
  readonly q?: string;
}

/** Reads the filters out of an address. */
export function readRequestFilter(search: Record<string, unknown>): RequestFilter {
  const id = (value: unknown) => {
    const given = text(value);
    return given !== undefined && UUID.test(given) ? given : undefined;
  };
  const number = (value: unknown) => {
    const given = text(value);
    return given !== undefined && /^\d+(\.\d+)?$/.test(given) ? given : undefined;
  };
  const label = text(search.label);
  return dropUndefined({
    request_id: id(search.request_id),
    api_key_id: id(search.api_key_id),
    model: text(search.model),
    provider: text(search.provider),
    status: STATUSES.find((status) => status === search.status),
    cache: CACHES.find((cache) => cache === search.cache),
    customer_id: text(search.customer_id),
    label: label?.includes('=') === true ? label : undefined,
    min_cost: number(search.min_cost),
    min_latency: number(search.min_latency),
    q: text(search.q),
  });
}

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
