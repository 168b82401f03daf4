import { Popover } from 'radix-ui';
import { useState } from 'react';
import { formatStamp, parseStamp, zoneName } from '../format/format-time';
import { Button } from '../ui/button';
import { Form, TextField } from '../ui/form';
import { calendarRanges } from './calendar-ranges';
import { RangeButton } from './range-button';
import { PRESETS, type Preset, presetOf, rangeQuery } from './time-range';
import type { Page } from './use-page';

interface RangeMenuProps {
  readonly page: Page;
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
}

/** Presets, days and months, and a stretch of one's own. */
export function RangeMenu({ page, isOpen, onOpen }: RangeMenuProps) {
  const { range, search, change } = page;
  const choose = (preset: Preset) => {
    change({ range: preset, from: undefined, to: undefined });
    onOpen(false);
  };
  return (
    <Popover.Root open={isOpen} onOpenChange={onOpen}>
      <Popover.Trigger asChild>
        <RangeButton page={page} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={4}
          className="z-30 w-72 rounded-lg border border-line-strong bg-panel p-3 shadow-lg"
        >
          <div className="grid grid-cols-3 gap-1">
            {(Object.keys(PRESETS) as Preset[]).map((preset) => (
              <button
                key={preset}
                type="button"
                aria-pressed={range.label !== 'custom' && presetOf(search) === preset}
                onClick={() => choose(preset)}
                className="nums rounded px-2 py-1 text-left text-xs hover:bg-hover aria-pressed:bg-accent-soft aria-pressed:text-accent"
              >
                {PRESETS[preset].label}
              </button>
            ))}
          </div>
          <CalendarRanges page={page} onDone={() => onOpen(false)} />
          <CustomRange page={page} onDone={() => onOpen(false)} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** Days and months up to now, two in a row, in the columns of the presets. */
function CalendarRanges({ page: { timeZone, change }, onDone }: { readonly page: Page; readonly onDone: () => void }) {
  return (
    <div className="mt-2 grid grid-cols-3 gap-1 border-t pt-2">
      {calendarRanges(Date.now(), timeZone).map(({ label, ...stretch }, index) => (
        <button
          key={label}
          type="button"
          onClick={() => {
            change(rangeQuery(stretch));
            onDone();
          }}
          className={`rounded px-2 py-1 text-left text-xs hover:bg-hover ${index % 2 === 0 ? 'col-start-1' : ''}`}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

/** Both ends in the one format of the dashboard, whatever the browser's own is. */
function CustomRange({ page, onDone }: { readonly page: Page; readonly onDone: () => void }) {
  const { range, timeZone, change } = page;
  const asInput = (ms: number) => formatStamp(ms, timeZone).replace(/:00$/, '');
  const [from, setFrom] = useState(asInput(range.fromMs));
  const [to, setTo] = useState(asInput(range.toMs));
  const [fromMs, toMs] = [parseStamp(from, timeZone), parseStamp(to, timeZone)];
  const isOrdered = fromMs === null || toMs === null || fromMs < toMs;
  const errorOf = (name: string, ms: number | null) => (ms === null ? `${name} must be like 2026-03-01 14:05.` : null);
  return (
    <Form
      className="mt-3 grid gap-2 border-t pt-3"
      onSubmit={() => {
        if (fromMs === null || toMs === null || !isOrdered) return;
        change({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() });
        onDone();
      }}
    >
      <TextField
        label={`From (${zoneName(timeZone)})`}
        {...STAMP}
        value={from}
        error={errorOf('From', fromMs)}
        onValue={setFrom}
      />
      <TextField
        label={`To (${zoneName(timeZone)})`}
        {...STAMP}
        value={to}
        error={errorOf('To', toMs) ?? (isOrdered ? null : 'To must be later than From.')}
        onValue={setTo}
      />
      <Button type="submit" size="small" disabled={fromMs === null || toMs === null || !isOrdered}>
        Apply range
      </Button>
    </Form>
  );
}

const STAMP = { autoComplete: 'off', spellCheck: false, placeholder: '2026-03-01 14:05', className: 'nums' } as const;
