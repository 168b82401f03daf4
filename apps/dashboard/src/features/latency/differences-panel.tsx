import { isAway } from '../../api/away';
import { useKeyNames } from '../../api/projects';
import { type Metric, useDifferences } from '../../api/stats';
import { describeRegion, type Region, requestsOfRegion } from '../../charts/durations/prepare-heat-map';
import { formatPoints, formatShare } from '../../format/format-number';
import { rangeQuery } from '../../range/time-range';
import type { Page } from '../../range/use-page';
import { requestsLink, useShowRequests } from '../../range/use-show-requests';
import { Button } from '../../ui/button';
import { Failure } from '../../ui/error-state';
import type { Column } from '../../ui/table/column';
import { DataTable } from '../../ui/table/data-table';
import {
  type Difference,
  describeRead,
  differenceOf,
  FIELD_LABELS,
  nameOf,
  requestsOf,
  shownOf,
} from './prepare-differences';

interface Props {
  readonly page: Page;
  readonly metric: Metric;
  readonly region: Region;
  readonly onClose: () => void;
}

/** What tells the requests of a region from the others of the range. */
export function DifferencesPanel({ page, metric, region, onClose }: Props) {
  const { from, to, project_id } = page.query;
  const { fromMs, toMs, minMs, maxMs } = region;
  const stretch = rangeQuery(region);
  const found = useDifferences({
    ...{ from, to, metric, region_from: stretch.from, region_to: stretch.to },
    ...{ min_ms: String(minMs), max_ms: String(maxMs) },
    ...(project_id === undefined ? {} : { project_id }),
  });
  const differences = found.isPlaceholderData ? undefined : found.data;
  const keys = differences?.data.filter(({ field }) => field === 'key').map(({ value }) => value) ?? [];
  const keyName = useKeyNames(keys);
  const showRequests = useShowRequests();
  const zoom = () => {
    page.change(rangeQuery({ fromMs, toMs }));
    onClose();
  };
  return (
    <section aria-label="What differs" className="mt-3 rounded-md border">
      <header className="flex flex-wrap items-center justify-between gap-2 px-3 py-2">
        <div className="min-w-0">
          <h3 className="font-semibold">What differs</h3>
          <p className="text-xs text-muted" aria-live="polite">
            {describeRegion(region, page.timeZone)}. {differences && describeRead(differences)}
          </p>
        </div>
        <div className="flex flex-wrap gap-1.5">
          <Button size="small" onClick={() => showRequests(requestsOfRegion(region, metric))}>
            Show requests
          </Button>
          <Button size="small" onClick={zoom}>
            Zoom in
          </Button>
          <Button size="small" kind="ghost" onClick={onClose}>
            Clear
          </Button>
        </div>
      </header>
      <Failure of={found} />
      {(found.error === null || isAway(found.error)) && (
        <DataTable
          caption="Values whose shares differ most"
          columns={columnsOf(keyName)}
          rows={differences && shownOf(differences)}
          rowKey={({ field, value }) => `${field} ${value}`}
          linkOf={(row) => {
            const filter = requestsOf(row, region, metric);
            return filter && requestsLink(filter);
          }}
          emptyTitle="Nothing differs"
          emptyHint="Requests in this region are like the others. Select another one."
        />
      )}
    </section>
  );
}

const columnsOf = (keyName: (id: string) => string): readonly Column<Difference>[] => [
  {
    header: 'Value',
    value: (row) => nameOf(row, keyName),
    cell: (row) => (
      <>
        <span className="text-muted max-sm:block max-sm:text-2xs max-sm:leading-tight">{FIELD_LABELS[row.field]}</span>{' '}
        {nameOf(row, keyName)}
      </>
    ),
  },
  {
    header: 'Shares',
    value: differenceOf,
    wideOnly: true,
    cell: (row) => <Shares {...row} />,
  },
  { header: 'Inside', unit: 'share', value: (row) => row.inside_share },
  { header: 'Outside', unit: 'share', value: (row) => row.outside_share },
  { header: 'Difference', align: 'right', value: differenceOf, cell: (row) => formatPoints(differenceOf(row)) },
];

/** Two bars below each other: inside, outside. */
const Shares = ({ inside_share: inside, outside_share: outside }: Difference) => (
  <svg
    viewBox="0 0 100 10"
    preserveAspectRatio="none"
    className="h-3.5 w-40"
    role="img"
    aria-label={`${formatShare(inside)} inside, ${formatShare(outside)} outside`}
  >
    <rect y="0" height="4.5" width={100 * (inside ?? 0)} className="fill-accent forced-colors:fill-[CanvasText]" />
    <rect y="5.5" height="4.5" width={100 * (outside ?? 0)} className="fill-faint forced-colors:fill-[GrayText]" />
  </svg>
);
