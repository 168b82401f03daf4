/** One call of the admin API, from `/admin/v1` on. */
export interface DashboardCall {
  readonly page: string;
  readonly range: string;
  /** The path before anything is filled in: the same over all ranges. */
  readonly name: string;
  readonly path: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Ranges as the dashboard offers them, with the interval it draws each in. */
const RANGES = {
  '24 h': { lengthMs: DAY_MS, interval: '900' },
  '7 d': { lengthMs: 7 * DAY_MS, interval: '10800' },
  '30 d': { lengthMs: 30 * DAY_MS, interval: '43200' },
  '90 d': { lengthMs: 90 * DAY_MS, interval: '86400' },
} as const;

/** What each page asks for; `{interval}` is that of the range, `{before}` the range of the same length before it. */
const PAGES = {
  overview: [
    '/stats/overview?{range}',
    '/stats/overview?{before}',
    '/stats/spend?{range}&interval={interval}&group_by=model&top=10',
    '/stats/latency?{range}&interval={interval}&metric=latency',
    '/stats/spend?{range}&interval={interval}',
    '/stats/errors?{range}&interval={interval}',
    '/stats/errors?{range}&interval=all&group_by=error_code',
    '/stats/health?{range}&interval={interval}',
    '/stats/flows?{range}',
    '/budgets?limit=20',
    '/logs?limit=100',
  ],
  spend: [
    '/stats/spend?{range}&interval={interval}&group_by=key&top=10',
    '/stats/spend?{range}&interval=all&group_by=key&top=100',
    '/stats/spend?{range}&interval={interval}&group_by=project&top=10',
    '/stats/spend-table?{range}&columns=customer&top=8',
    '/stats/spend-table?{range}&columns=project&top=8',
  ],
  customers: [
    '/stats/spend?{days}&interval={dayInterval}&group_by=customer&top=10',
    '/stats/spend?{days}&interval=all&group_by=customer&top=100',
    '/stats/spend?{daysBefore}&interval=all&group_by=customer&top=1000',
    '/customers?{range}&limit=100',
  ],
  latency: [
    '/stats/latency?{range}&interval={interval}&metric=ttft',
    '/stats/latency?{range}&interval=all&group_by=model&top=100',
    '/stats/latency?{range}&interval=all&group_by=key&top=100&metric=latency',
    '/stats/histogram?{range}&interval={interval}&metric=latency',
    '/stats/differences?{range}&{region}&metric=latency',
  ],
  cache: ['/stats/cache?{range}&interval={interval}', '/stats/cache?{range}&interval=all&group_by=model&top=100'],
  requests: [
    '/logs?{range}&limit=100',
    '/logs?{range}&limit=100&status=error',
    '/logs?{range}&limit=100&min_latency=4000',
  ],
} as const;

/** Every call of every page over every range, in the order somebody goes through them. */
export function dashboardCalls(nowMs: number): readonly DashboardCall[] {
  return Object.entries(RANGES).flatMap(([range, { lengthMs, interval }]) => {
    const stretch = (fromMs: number, toMs: number) =>
      `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`;
    const fromMs = nowMs - lengthMs;
    const isLong = lengthMs > DAY_MS;
    const firstMs = isLong ? fromMs - (fromMs % DAY_MS) : fromMs;
    const filled = {
      range: stretch(fromMs, nowMs),
      before: stretch(fromMs - lengthMs, fromMs),
      // The slow ones of a tenth of the time.
      region: `region_${stretch(nowMs - lengthMs / 2, nowMs - 0.4 * lengthMs).replace('&', '&region_')}&min_ms=4000&max_ms=60000`,
      // The dashboard draws customers by hours and beyond a day by whole days, and compares them with as long a stretch before.
      days: stretch(firstMs, nowMs),
      daysBefore: stretch(2 * firstMs - nowMs, firstMs),
      dayInterval: isLong ? '86400' : '3600',
      interval,
    };
    return Object.entries(PAGES).flatMap(([page, paths]) =>
      paths.map((path) => ({
        ...{ page, range, name: path },
        path: path.replace(/\{(\w+)\}/g, (_, name: string) => filled[name as keyof typeof filled]),
      })),
    );
  });
}
