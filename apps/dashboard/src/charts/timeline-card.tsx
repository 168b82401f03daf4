import { type TimelineEvent, useTimeline } from '../api/timeline';
import { formatInstant } from '../format/format-time';
import type { Page } from '../range/use-page';
import { describeMark, MARK_KINDS } from './prepare-marks';

const MAX_SHOWN = 100;

/** Lists the events behind a page's chart marks. Renders nothing without events or while marks are off. */
export function TimelineCard({ page }: { readonly page: Page }) {
  const isShown = page.search.marks !== 'off';
  const { data } = useTimeline(page.query, isShown);
  if (!isShown || data === undefined || data.length === 0) return null;
  return (
    <details className="rounded-lg border bg-panel px-4 py-1.5">
      <summary className="cursor-pointer text-sm font-semibold">
        {data.length === 1 ? '1 event' : `${data.length} events`} marked on the charts
      </summary>
      <ul className="mt-2 grid gap-1.5" aria-label="Events marked on the charts">
        {data.slice(0, MAX_SHOWN).map((event) => (
          <Line key={event.id} {...{ event, page }} />
        ))}
        {data.length > MAX_SHOWN && <li className="text-muted">and {data.length - MAX_SHOWN} earlier</li>}
      </ul>
    </details>
  );
}

function Line({ event, page }: { readonly event: TimelineEvent; readonly page: Page }) {
  return (
    <li className="flex flex-wrap items-baseline gap-x-3">
      <span className="nums text-xs text-muted">{formatInstant(event.at, page.timeZone)}</span>
      <span className="flex min-w-0 items-baseline gap-2 wrap-anywhere">
        <span
          className="size-2 shrink-0 rounded-[2px]"
          style={{ background: `var(${MARK_KINDS[event.kind].color})` }}
        />
        {describeMark(event)}
      </span>
    </li>
  );
}
