import { useNavigate } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import { isAway } from '../../api/away';
import type { LatencyBucket, Metric, useHistogram } from '../../api/stats';
import { HeatLegend, HeatMap } from '../../charts/durations/heat-map';
import {
  type HeatMap as Prepared,
  percentilesOf,
  prepareHeatMap,
  prepareLines,
  type Region,
  requestsOfRegion,
} from '../../charts/durations/prepare-heat-map';
import { ENOUGH } from '../../charts/prepare-scale';
import { bucketStarts, rangeQuery, type TimeRange } from '../../range/time-range';
import type { Page } from '../../range/use-page';
import { useShowRequests } from '../../range/use-show-requests';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { FiguresTable } from '../../ui/table/figures-table';
import { DifferencesPanel } from './differences-panel';
import { type LatencySearch, readRegion, writeRegion } from './latency-search';
import { figuresOf, HEADS } from './prepare-figures';
import { METRIC_LABELS } from './prepare-latency';

interface Props {
  readonly page: Page;
  readonly metric: Metric;
  readonly histogram: ReturnType<typeof useHistogram>;
  /** Percentiles over time. */
  readonly buckets: readonly LatencyBucket[] | undefined;
}

/** Height of the picture with its axes: nothing moves when it arrives. */
const RESERVED = 'min-h-[16.5rem]';

/** Requests by time and duration; a region of it tells what differs. */
export function HeatMapCard({ page, metric, histogram, buckets }: Props) {
  const { range, timeZone } = page;
  const [region, setRegion] = useRegion(metric, page);
  const showRequests = useShowRequests();
  const map = useMap(histogram, range);
  const percentiles = useMemo(() => map && percentilesOf(map, buckets ?? [], metric), [map, buckets, metric]);
  const lines = useMemo(() => (map && percentiles ? prepareLines(map, percentiles) : []), [map, percentiles]);
  const hasDashes = lines.some(({ dashes }) => dashes.some((path) => path !== ''));
  const isDrawn = map !== undefined && map.most > 0;
  return (
    <Card title="Heat map" actions={<HeatLegend />}>
      <div className={RESERVED}>
        <Failure of={histogram} />
        {map === undefined && histogram.error === null && (
          <div className={`rounded bg-hover/60 ${RESERVED}`} aria-busy="true" />
        )}
        {map?.most === 0 && (
          <p className={`flex items-center justify-center text-center text-muted ${RESERVED}`}>
            Nothing was measured in this range. Choose a longer one, or send a request.
          </p>
        )}
        {isDrawn && (
          <HeatMap
            label={`Requests by time and ${METRIC_LABELS[metric].toLowerCase()} duration`}
            {...{ map, lines, timeZone, region }}
            onRegion={setRegion}
            onOpen={(cell) => showRequests(requestsOfRegion(cell, metric))}
          />
        )}
      </div>
      {region === null && (
        <p className="mt-1 text-xs text-muted">
          Drag over a region, or hold Shift and use the arrow keys, to see what differs there.
          {metric !== 'overhead' &&
            ' The cells count all requests. Lines, percentiles and Comparison leave out cache hits and failures.'}
          {/* Keeps its room: nothing moves when the lines arrive. */}
          <span className={hasDashes ? '' : 'invisible'}> Dashes are of fewer than {ENOUGH} requests.</span>
        </p>
      )}
      {region !== null && <DifferencesPanel {...{ page, metric, region }} onClose={() => setRegion(null)} />}
      {isDrawn && percentiles !== undefined && (
        <FiguresTable
          caption="Heat map in figures"
          heads={HEADS}
          rows={figuresOf({ map: map, percentiles, timeZone })}
        />
      )}
    </Card>
  );
}

/** An answer keeps the time that it was asked for until the next one is there. */
function useMap({ data, isPlaceholderData, error }: Props['histogram'], range: TimeRange): Prepared | undefined {
  const known = useRef<Prepared>(undefined);
  const answer = isPlaceholderData ? undefined : data;
  const map = useMemo(() => answer && prepareHeatMap(answer, bucketStarts(range), range.intervalMs), [answer, range]);
  known.current = map ?? known.current;
  return error !== null && !isAway(error) ? undefined : known.current;
}

/** The region in the address. */
function useRegion(metric: Metric, { search, range }: Page) {
  const navigate = useNavigate();
  const region = useMemo(() => readRegion(search as LatencySearch, { metric, range }), [search, metric, range]);
  const choose = (next: Region | null) =>
    void navigate({
      to: '.',
      // A range that moves on would leave the region behind, and change its counts.
      search: (before) =>
        next === null
          ? { ...before, region: undefined }
          : { ...before, range: undefined, ...rangeQuery(range), region: writeRegion(metric, next) },
      replace: true,
      resetScroll: false,
    });
  return [region, choose] as const;
}
