import type { ComponentProps } from 'react';
import { formatStamp } from '../format/format-time';
import { Button } from '../ui/button';
import { Chevron } from '../ui/icons';
import type { Page } from './use-page';

/** Says the range of the page. */
export function RangeButton({ page, ...rest }: { readonly page: Page } & ComponentProps<'button'>) {
  const { range, timeZone } = page;
  const isCustom = range.label === 'custom';
  const hasSeconds = (range.toMs - range.fromMs) % 60_000 !== 0;
  const short = (ms: number) => formatStamp(ms, timeZone).slice(5, hasSeconds ? 19 : 16);
  const custom = `${short(range.fromMs)} – ${short(range.toMs)}`;
  return (
    <Button {...rest} aria-label={`Time range: ${isCustom ? custom : `last ${range.label}`}`}>
      <span className="nums">{isCustom ? custom : `Last ${range.label}`}</span>
      <Chevron className="text-faint" />
    </Button>
  );
}
