import { lazy, Suspense, useState } from 'react';
import { zoneName } from '../format/format-time';
import { Button } from '../ui/button';
import { Close } from '../ui/icons';
import { RangeButton } from './range-button';
import { PRESETS, presetOf } from './time-range';
import type { Page } from './use-page';

/** What few visits open is no part of the first load. */
export const loadRangeMenu = () => import('./range-menu').then((module) => ({ default: module.RangeMenu }));
const RangeMenu = lazy(loadRangeMenu);

/** Chooses range and time zone of the page. */
export function RangePicker({ page }: { readonly page: Page }) {
  /** undefined: it was never open. */
  const [isOpen, setIsOpen] = useState<boolean>();
  const { range, timeZone, change } = page;
  const button = (
    <RangeButton page={page} aria-haspopup="dialog" aria-expanded={false} onClick={() => setIsOpen(true)} />
  );
  return (
    <div className="flex items-center gap-1.5">
      {isOpen === undefined ? (
        button
      ) : (
        <Suspense fallback={button}>
          <RangeMenu page={page} isOpen={isOpen} onOpen={setIsOpen} />
        </Suspense>
      )}
      {range.label === 'custom' && <BackButton page={page} />}
      <Button
        aria-label={`Times are shown in ${zoneName(timeZone)}. Switch time zone`}
        title={`Times are shown in ${zoneName(timeZone)}`}
        onClick={() => change({ tz: timeZone === 'utc' ? 'local' : undefined })}
      >
        <span className="max-w-32 truncate">{zoneName(timeZone)}</span>
      </Button>
    </div>
  );
}

/** Out of a stretch, to where one was before. */
function BackButton({ page: { search, change } }: { readonly page: Page }) {
  const name = `Back to the last ${PRESETS[presetOf(search)].label}`;
  return (
    <Button aria-label={name} title={name} className="px-2!" onClick={() => change({ from: undefined, to: undefined })}>
      <Close className="text-faint" />
    </Button>
  );
}
