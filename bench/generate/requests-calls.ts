import { LOG_SORTS } from '@llm0/drizzle/queries/logs/log-sorts';

/** A statement of the requests page, from `/admin/v1` on. */
export interface RequestsCall {
  readonly name: string;
  readonly range: string;
  /** Milliseconds in which it has to be answered. */
  readonly mostMs: number;
  readonly path: string;
}

const DAY_MS = 86_400_000;
const RANGES = {
  '24 h': { lengthMs: DAY_MS, interval: 1800, mostMs: 1000 },
  '30 d': { lengthMs: 30 * DAY_MS, interval: 43_200, mostMs: 3000 },
} as const;

/** What a filter bar may hold: found often, seldom, never; by an index and by none. */
const FILTERS = [
  '',
  ...['status=error', 'status_not=success', 'http_status=502', 'error_code=upstream_error', 'cache=semantic'],
  ...['model=gpt-4o', 'model=nowhere', 'provider=gemini', 'min_latency=4000', 'min_cost=1', 'failover_from=openai'],
  ...['customer_id=customer-7', 'customer_id_not=customer-7', 'api_key_id=00000000-0000-4000-8000-000000000001'],
  ...['label.team=team-3', 'label.team=nowhere', 'label_not.team=team-3', 'label.team=team-1&label.team=team-2'],
  ...['q=upstream', 'q=nowhere', 'q=nowhere&status=error&label.team=team-3'],
] as const;
const SUGGESTED = [
  ...['model', 'provider', 'error_code', 'customer_id', 'api_key_id', 'project_id', 'http_status', 'label'],
  ...['label.team', 'label.nowhere'],
];

/** Everything the page asks: its list in every order and by every filter, counts, histogram and suggestions. */
export function requestsCalls(nowMs: number): readonly RequestsCall[] {
  const calls = Object.entries(RANGES).flatMap(([range, { lengthMs, interval, mostMs }]) => {
    const asked = `from=${new Date(nowMs - lengthMs).toISOString()}&to=${new Date(nowMs).toISOString()}`;
    const call = (name: string, path: string): RequestsCall => ({ range, mostMs, name, path });
    const filtered = FILTERS.flatMap((filter) => {
      const query = [asked, filter].filter((part) => part !== '').join('&');
      const name = filter === '' ? 'all' : filter;
      return [
        call(`list, ${name}`, `/logs?${query}&limit=100`),
        call(`count, ${name}`, `/logs?${query}&limit=1&count=true`),
        call(`histogram, ${name}`, `/logs/histogram?${query}&interval=${interval}`),
      ];
    });
    const sorted = LOG_SORTS.map((sort) => call(`sort ${sort}`, `/logs?${asked}&limit=100&sort=${sort}`));
    return [...filtered, ...sorted];
  });
  const suggestions = SUGGESTED.flatMap((field) =>
    ['', '&q=te'].map((q) => ({
      ...{ name: `suggest ${field}${q}`, range: 'any', mostMs: 1000 },
      path: `/logs/suggestions?field=${field}${q}`,
    })),
  );
  return [...calls, ...suggestions];
}
