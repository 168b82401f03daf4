import type { ReactNode } from 'react';
import { RangePicker } from '../../range/range-picker';
import type { Page } from '../../range/use-page';
import { ProjectFilter } from './project-filter';

interface Props {
  readonly title: string;
  readonly intro?: ReactNode;
  /** Where range and project count. */
  readonly page?: Page;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** Title, what the page can be narrowed to, content. */
export function PageFrame({ title, intro, page, actions, children }: Props) {
  return (
    <main id="main" className="mx-auto flex w-full max-w-[100rem] min-w-0 flex-col gap-4 px-4 py-4 sm:px-6">
      <header className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div>
          <h1 className="text-lg font-semibold tracking-tight">{title}</h1>
          {intro !== undefined && <p className="text-muted">{intro}</p>}
        </div>
        <div className="flex flex-wrap items-center gap-1.5">
          {actions}
          {page !== undefined && (
            <>
              <ProjectFilter page={page} />
              <RangePicker page={page} />
            </>
          )}
        </div>
      </header>
      {children}
    </main>
  );
}
