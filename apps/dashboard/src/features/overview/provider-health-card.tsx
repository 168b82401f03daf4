import { type ReactNode, useMemo, useRef, useState } from 'react';
import { isAway } from '../../api/away';
import { type ProviderHealth, useProviderHealth } from '../../api/stats';
import {
  asStep,
  type Bar,
  type BarTimes,
  barTimes,
  describeBar,
  describeLength,
  describeStrip,
  type Strip as Prepared,
  prepareStrips,
  requestsOfBar,
} from '../../charts/strip/prepare-strip';
import { Strip, StripLegend } from '../../charts/strip/strip';
import { countOf, formatCount, formatShare, NOTHING } from '../../format/format-number';
import { formatStamp, zoneName } from '../../format/format-time';
import { rangeQuery, type TimeRange } from '../../range/time-range';
import type { Page } from '../../range/use-page';
import { requestsLink, useShowRequests } from '../../range/use-show-requests';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { PlaceLink } from '../../ui/place-link';
import { FiguresTable } from '../../ui/table/figures-table';

const SHOWN = 4;
/** Height of four strips with two lines of text each: nothing moves when they arrive. */
const RESERVED = 'min-h-62 sm:min-h-34';
const STAMP = '2026-01-31 23:59'.length;

/** How each provider fared over the range. */
export function ProviderHealthCard({ page }: { readonly page: Page }) {
  const { query, times, strips } = useStrips(page);
  const [isWhole, setIsWhole] = useState(false);
  const { range, timeZone } = page;
  const { intervalMs } = times;
  const hasStrips = strips !== undefined && strips.length > 0;
  const describe = (bar: Bar) => describeBar(bar, { intervalMs, timeZone });
  const stampOf = (ms: number) => formatStamp(ms, timeZone).slice(0, STAMP);
  return (
    <Card
      title="Provider health"
      actions={
        <span className="flex h-7 items-center gap-2">
          <span className="text-xs text-muted">One bar: {describeLength(intervalMs)}</span>
          {strips !== undefined && strips.length > SHOWN && (
            <Button size="small" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
              {isWhole ? 'Show fewer' : `Show all ${strips.length}`}
            </Button>
          )}
        </span>
      }
    >
      <div className={RESERVED}>
        <Failure of={query} />
        {strips === undefined && query.error === null && (
          <div className={`rounded bg-hover/60 ${RESERVED}`} aria-busy="true" />
        )}
        {strips?.length === 0 && <Note>No provider was asked in this range.</Note>}
        <ul className={`grid content-evenly gap-2 sm:grid-cols-[9rem_minmax(0,1fr)_auto] ${hasStrips ? RESERVED : ''}`}>
          {strips?.slice(0, isWhole ? strips.length : SHOWN).map((strip) => (
            <Row key={strip.provider} {...{ strip, describe, intervalMs, range }} />
          ))}
        </ul>
      </div>
      <div className="mt-2 flex flex-wrap justify-between gap-x-4 gap-y-1 text-2xs text-muted">
        <span className="nums">
          {stampOf(range.fromMs)} to {stampOf(range.toMs)} {zoneName(timeZone)}
        </span>
        <StripLegend />
      </div>
      <p className="mt-1 text-2xs text-muted">
        Counts requests sent to the provider. A failure there counts even if another provider answered.
      </p>
      {hasStrips && (
        <FiguresTable
          caption="Provider health in figures"
          heads={HEADS}
          rows={strips.map((strip) => ({ key: strip.provider, cells: cellsOf(strip, describe) }))}
        />
      )}
    </Card>
  );
}

const Note = ({ children }: { readonly children: ReactNode }) => (
  <p className={`flex items-center justify-center text-center text-muted ${RESERVED}`}>{children}</p>
);

interface Shown {
  readonly buckets: readonly ProviderHealth[];
  readonly times: BarTimes;
}

/** An answer keeps the bars that it was asked for until the next one is there. */
function useStrips({ range, query: asked }: Page) {
  const wanted = useMemo(() => barTimes(range), [range]);
  const query = useProviderHealth({
    ...asked,
    ...rangeQuery(range),
    interval: asStep(wanted.intervalMs),
  });
  const known = useRef<Shown>(undefined);
  const buckets = query.isPlaceholderData ? undefined : query.data?.buckets;
  if (buckets !== undefined && (known.current?.buckets !== buckets || known.current.times !== wanted)) {
    known.current = { buckets, times: wanted };
  }
  const isFailed = query.error !== null && !isAway(query.error);
  const shown = isFailed ? undefined : known.current;
  const strips = useMemo(() => shown && prepareStrips(shown.buckets, shown.times), [shown]);
  return { query, strips, times: shown?.times ?? wanted };
}

interface RowProps {
  readonly strip: Prepared;
  readonly describe: (bar: Bar) => string;
  readonly intervalMs: number;
  readonly range: TimeRange;
}

function Row({ strip, describe, intervalMs, range }: RowProps) {
  const { provider, bars, requests } = strip;
  const [sent, elsewhere] = describeStrip(strip);
  const showRequests = useShowRequests();
  const open = (bar: Bar) =>
    showRequests(requestsOfBar(provider, bar), {
      fromMs: Math.max(bar.startMs, range.fromMs),
      toMs: bar.startMs + intervalMs,
    });
  return (
    <li className="grid grid-cols-[auto_minmax(9rem,1fr)] items-center gap-x-3 gap-y-1 sm:col-span-3 sm:grid-cols-subgrid">
      <PlaceLink
        {...requestsLink({ sent_to: provider })}
        className="touch-line min-w-0 font-medium hover:underline"
        title={`The ${countOf(requests, 'request')} sent to ${provider}`}
      >
        <span className="block truncate">{provider}</span>
      </PlaceLink>
      <span className="nums truncate text-right text-xs text-muted max-sm:text-2xs max-sm:whitespace-normal sm:order-last">
        {strip.failed === 0 ? (
          sent
        ) : (
          <PlaceLink {...requestsLink({ failed_at: provider })} className="touch-line hover:underline">
            {sent}
          </PlaceLink>
        )}
        {elsewhere !== '' && <span className="block text-2xs leading-3">{elsewhere}</span>}
      </span>
      <div className="col-span-2 sm:col-span-1">
        <Strip label={`${provider}: health over time`} {...{ bars, describe }} onSelect={open} />
      </div>
    </li>
  );
}

const HEADS = [
  ...['Provider', 'Requests sent', 'Failed there', 'Share failed'],
  ...['Answered elsewhere', 'Of them skipped while paused', 'Last failures'],
];

function cellsOf(
  { provider, bars, requests, failed, rescued, skipped }: Prepared,
  describe: (bar: Bar) => string,
): readonly string[] {
  const last = bars.findLast((bar) => bar.failed > 0);
  const counts = [
    formatCount(requests),
    formatCount(failed),
    requests === 0 ? NOTHING : formatShare(failed / requests),
  ];
  counts.push(formatCount(rescued + skipped), formatCount(skipped));
  return [provider, ...counts, last === undefined ? NOTHING : describe(last)];
}
