import type { ComponentProps } from 'react';
import { Button } from '../ui/button';
import { Chevron } from '../ui/icons';
import { nameRange } from './name-range';
import type { Page } from './use-page';

/** Says the range of the page. */
export function RangeButton({ page, ...rest }: { readonly page: Page } & ComponentProps<'button'>) {
  const named = nameRange(page);
  return (
    <Button {...rest} aria-label={`Time range: ${named.replace(/^L/, 'l')}`}>
      <span className="nums">{named}</span>
      <Chevron className="text-faint" />
    </Button>
  );
}
