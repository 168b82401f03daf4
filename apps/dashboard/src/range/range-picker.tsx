import { Popover } from 'radix-ui';
import { useState } from 'react';
import { formatStamp } from '../format/format-time';
import { Button } from '../ui/button';
import { Form, TextField } from '../ui/form';
import { Chevron, Close } from '../ui/icons';
import { DEFAULT_RANGE, PRESETS, type Preset } from './time-range';
import type { Page } from './use-page';

/** Chooses range and time zone of the page. */
export function RangePicker({ page }: { readonly page: Page }) {
  const [isOpen, setIsOpen] = useState(false);
  const { range, timeZone, search, change } = page;
  const isCustom = range.label === 'custom';
  const hasSeconds = (range.toMs - range.fromMs) % 60_000 !== 0;
  const short = (ms: number) => formatStamp(ms, timeZone).slice(5, hasSeconds ? 19 : 16);
  const custom = `${short(range.fromMs)} – ${short(range.toMs)}`;
  const choose = (preset: Preset) => {
    change({ range: preset, from: undefined, to: undefined });
    setIsOpen(false);
  };
  return (
    <div className="flex items-center gap-1.5">
      <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
        <Popover.Trigger asChild>
          <Button aria-label={`Time range: ${isCustom ? custom : `last ${range.label}`}`}>
            <span className="nums">{isCustom ? custom : `Last ${range.label}`}</span>
            <Chevron className="text-faint" />
          </Button>
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
                  aria-pressed={!isCustom && (search.range ?? DEFAULT_RANGE) === preset}
                  onClick={() => choose(preset)}
                  className="nums rounded px-2 py-1 text-left text-xs hover:bg-hover aria-pressed:bg-accent-soft aria-pressed:text-accent"
                >
                  {PRESETS[preset].label}
                </button>
              ))}
            </div>
            <CustomRange page={page} onDone={() => setIsOpen(false)} />
          </Popover.Content>
        </Popover.Portal>
      </Popover.Root>
      {isCustom && <BackButton page={page} />}
      <Button
        aria-label={`Times are shown in ${timeZone === 'utc' ? 'UTC' : 'local time'}. Switch time zone`}
        onClick={() => change({ tz: timeZone === 'utc' ? 'local' : undefined })}
      >
        {timeZone === 'utc' ? 'UTC' : 'Local'}
      </Button>
    </div>
  );
}

/** Out of a stretch, to where one was before. */
function BackButton({ page: { search, change } }: { readonly page: Page }) {
  const name = `Back to the last ${PRESETS[search.range ?? DEFAULT_RANGE].label}`;
  return (
    <Button aria-label={name} title={name} className="px-2!" onClick={() => change({ from: undefined, to: undefined })}>
      <Close className="text-faint" />
    </Button>
  );
}

function CustomRange({ page, onDone }: { readonly page: Page; readonly onDone: () => void }) {
  const { range, timeZone, change } = page;
  const asInput = (ms: number) => formatStamp(ms, timeZone).slice(0, 16).replace(' ', 'T');
  const [from, setFrom] = useState(asInput(range.fromMs));
  const [to, setTo] = useState(asInput(range.toMs));
  const toInstant = (text: string) => new Date(timeZone === 'utc' ? `${text}Z` : text);
  const isValid = toInstant(from).getTime() < toInstant(to).getTime();
  return (
    <Form
      className="mt-3 grid gap-2 border-t pt-3"
      onSubmit={() => {
        change({ from: toInstant(from).toISOString(), to: toInstant(to).toISOString() });
        onDone();
      }}
    >
      <TextField label="From" type="datetime-local" value={from} onValue={setFrom} />
      <TextField
        label="To"
        type="datetime-local"
        value={to}
        error={isValid ? null : 'must be later than From'}
        onValue={setTo}
      />
      <Button type="submit" size="small" disabled={!isValid}>
        Apply range
      </Button>
    </Form>
  );
}
