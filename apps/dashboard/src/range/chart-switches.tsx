import { Button } from '../ui/button';
import { Compare, Marks } from '../ui/icons';
import type { Page } from './use-page';

/** Extra layers of charts, in the address, on every page. */
export function ChartSwitches({ page: { search, change } }: { readonly page: Page }) {
  const hasPrevious = search.previous === 'on';
  const hasMarks = search.marks !== 'off';
  const shape = 'px-2! aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent';
  return (
    <fieldset className="flex gap-1.5">
      <legend className="sr-only">Charts show</legend>
      <Button
        aria-label="The previous period"
        title={hasPrevious ? 'Hide the previous period' : 'Show the previous period behind the charts'}
        aria-pressed={hasPrevious}
        className={shape}
        onClick={() => change({ previous: hasPrevious ? undefined : 'on' })}
      >
        <Compare />
      </Button>
      <Button
        aria-label="Deploys and changes"
        title={hasMarks ? 'Hide deploys and changes' : 'Mark deploys and changes on the charts'}
        aria-pressed={hasMarks}
        className={shape}
        onClick={() => change({ marks: hasMarks ? 'off' : undefined })}
      >
        <Marks />
      </Button>
    </fieldset>
  );
}
