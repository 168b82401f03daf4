import { type ReactNode, useState } from 'react';
import { useLive } from '../../api/live';
import {
  addNews,
  describeErrors,
  formatInFlight,
  formatRate,
  LIVE_HEIGHT,
  liveFigures,
  NO_TRAFFIC,
  PITCH,
  prepareLive,
  SHOWN_SECONDS,
  type TrafficNews,
} from '../../charts/live/prepare-live';
import { useBeat } from '../../charts/live/use-beat';
import type { Page } from '../../range/use-page';
import { type Place, PlaceLink } from '../../ui/place-link';
import { FiguresTable } from '../../ui/table/figures-table';

/** The last minute of all projects, as it passes. */
export function LiveCard({ page: { projectId } }: { readonly page: Page }) {
  const [traffic, setTraffic] = useState(NO_TRAFFIC);
  const isLive = useLive<TrafficNews>({
    topic: 'traffic',
    onNews: (news) => setTraffic((before) => addNews(before, news, Date.now())),
    // A new stream tells the last minute again.
    onHello: (resumed) => !resumed && setTraffic(NO_TRAFFIC),
  });
  const minute = prepareLive(traffic, useBeat());
  const { paths } = minute;
  return (
    <section
      aria-label="Live"
      // Numbers change every second: what grows must move nothing.
      className="items-center gap-x-5 gap-y-2 rounded-lg border bg-panel px-4 py-2.5 max-sm:grid max-sm:grid-cols-[auto_auto_1fr] sm:flex"
    >
      <h2 className="flex items-center gap-1.5 text-sm font-semibold">
        <span
          className={`size-2 rounded-full forced-color-adjust-none ${isLive ? 'bg-good' : 'bg-line-strong'}`}
          title={isLive ? 'The stream is connected' : 'Waiting for the stream'}
        />
        Live{projectId !== undefined && ', all projects'}
      </h2>
      <Figure link={REQUESTS} unit="requests/s">
        <Value isLive={isLive}>{formatRate(minute.perSecond)}</Value>
      </Figure>
      <Figure unit="in flight">
        <Value isLive={isLive}>{formatInFlight(traffic.inFlight)}</Value>
      </Figure>
      <Figure link={FAILED} unit="in the last minute" className="max-sm:col-span-3" isBad={minute.failed > 0}>
        <Value isLive={isLive}>{describeErrors(minute)}</Value>
      </Figure>
      <svg
        viewBox={`0 0 ${SHOWN_SECONDS * PITCH} ${LIVE_HEIGHT}`}
        preserveAspectRatio="none"
        className="h-6 w-full border-b max-sm:col-span-3 sm:min-w-10 sm:flex-1"
        aria-hidden="true"
      >
        <path d={paths.others} className="fill-accent forced-colors:fill-[CanvasText]" />
        <path d={paths.failed} className="fill-bad forced-colors:fill-[Highlight]" />
      </svg>
      <FiguresTable
        caption="The last minute in figures"
        heads={['When', 'Requests', 'Failed']}
        rows={liveFigures(minute)}
      />
    </section>
  );
}

/** A gap while the stream begins: nothing is known yet. */
const Value = ({ isLive, children }: { readonly isLive: boolean; readonly children: string }) =>
  isLive ? (
    children
  ) : (
    <span className="inline-block h-3 w-8 rounded bg-hover align-middle" aria-label="loading" role="img" />
  );

/** Of all projects. */
const NOW = { range: '5m', from: undefined, to: undefined, project: undefined };
const MINUTE_MS = 60_000;
const ofNow = (filter: object): Place => ({
  to: '/requests',
  search: (kept: object) => ({ ...kept, ...NOW, ...filter }),
});
const REQUESTS = ofNow({ live: true });
/** As many as the last minute had. */
const FAILED: Place = {
  to: '/requests',
  search: (kept: object) => {
    const now = Date.now();
    const [from, to] = [now - MINUTE_MS, now].map((ms) => new Date(ms).toISOString());
    return { ...kept, range: undefined, from, to, project: undefined, outcome: 'error' };
  },
};

interface FigureProps {
  readonly unit: string;
  readonly link?: Place;
  readonly isBad?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

function Figure({ unit, link, isBad = false, className = '', children }: FigureProps) {
  const text = (
    <>
      <span className={`font-semibold ${isBad ? 'text-bad' : ''}`}>{children}</span>{' '}
      <span className="text-xs text-muted">{unit}</span>
    </>
  );
  if (link === undefined) return <span className="nums">{text}</span>;
  return (
    <PlaceLink {...link} className={`touch-line nums rounded hover:underline ${className}`}>
      {text}
    </PlaceLink>
  );
}
