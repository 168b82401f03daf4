import { Button } from '../../ui/button';
import { Select } from '../../ui/form';
import { Chevron } from '../../ui/icons';
import { monthOptions, shiftMonth } from './prepare-finance';
import type { Finance } from './use-finance';

/** One calendar month, and the ones beside it. */
export function MonthPicker({ month, running, change }: Pick<Finance, 'month' | 'running' | 'change'>) {
  const choose = (chosen: string) => change({ month: chosen === running ? undefined : chosen });
  return (
    <span className="flex items-center gap-1">
      <Button aria-label="Previous month" className="px-2!" onClick={() => choose(shiftMonth(month, -1))}>
        <Chevron className="rotate-90" />
      </Button>
      <Select
        aria-label="Month"
        className="w-52"
        options={monthOptions(running, month)}
        value={month}
        onValue={choose}
      />
      <Button
        aria-label="Next month"
        className="px-2!"
        disabled={month >= running}
        onClick={() => choose(shiftMonth(month, 1))}
      >
        <Chevron className="-rotate-90" />
      </Button>
    </span>
  );
}

const LOCAL = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Time zone of a month. */
export function ZonePicker({ page }: Pick<Finance, 'page'>) {
  return (
    <Select
      aria-label="Time zone"
      className="w-40 max-sm:w-32"
      options={{ utc: 'UTC', local: LOCAL === 'UTC' ? 'Local (UTC)' : LOCAL.replaceAll('_', ' ') }}
      value={page.timeZone}
      onValue={(tz) => page.change({ tz: tz === 'local' ? 'local' : undefined })}
    />
  );
}
