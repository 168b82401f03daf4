import { type ReactNode, useEffect } from 'react';
import { useLiveStats } from '../../api/stats';
import { TimelineCard } from '../../charts/timeline-card';
import { ChartSwitches } from '../../range/chart-switches';
import { RangePicker } from '../../range/range-picker';
import { isUntilNow } from '../../range/time-range';
import { UnreadRange } from '../../range/unread-values';
import type { Page } from '../../range/use-page';
import { ProjectFilter } from './project-filter';
import { AwayBanner } from './trouble';

interface Props {
  readonly title: string;
  readonly intro?: ReactNode;
  /** Page with range and project filters. */
  readonly page?: Page;
  /** Shows one project, never all of them. */
  readonly needsProject?: boolean;
  /** Shows the chart switch. */
  readonly hasCharts?: boolean;
  readonly actions?: ReactNode;
  /** Nothing shows below the heading yet: a banner would move it. */
  readonly isHeld?: boolean;
  /** Its list takes the room that is left of the window, and only the list scrolls. Not on phones. */
  readonly fillsWindow?: boolean;
  readonly children: ReactNode;
}

/** A low window has room for some rows, too. */
const FILLING = 'md:h-dvh md:min-h-160 print:h-auto!';
const UTC = { timeZone: 'utc' } as const;

/** Title, filters and content. */
export function PageFrame({ title, intro, page, actions, children, ...how }: Props) {
  const { needsProject = false, hasCharts = false, isHeld = false, fillsWindow = false } = how;
  useLiveStats(page?.query, page !== undefined && isUntilNow(page.range));
  useEffect(() => {
    document.title = `${title} · LLM0 Gateway`;
  }, [title]);
  return (
    <main
      id="main"
      tabIndex={-1}
      data-held={isHeld || undefined}
      className={`mx-auto outline-none flex w-full max-w-[100rem] min-w-0 flex-col gap-4 px-4 py-4 sm:px-6 ${fillsWindow ? FILLING : ''}`}
    >
      <header className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h1 className="text-lg font-semibold tracking-tight wrap-anywhere">{title}</h1>
          {intro !== undefined && <p className="text-muted">{intro}</p>}
        </div>
        <div className="flex flex-wrap items-center gap-1.5">
          {actions}
          {page !== undefined && (
            <>
              <ProjectFilter page={page} isNeeded={needsProject} />
              {hasCharts && <ChartSwitches page={page} />}
              <RangePicker page={page} />
            </>
          )}
        </div>
      </header>
      <AwayBanner page={page ?? UTC} />
      {page !== undefined && <UnreadRange page={page} />}
      {children}
      {hasCharts && page !== undefined && <TimelineCard page={page} />}
    </main>
  );
}
