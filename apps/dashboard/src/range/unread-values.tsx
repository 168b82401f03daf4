import { Close } from '../ui/icons';
import { nameRange } from './name-range';
import { unreadRange } from './time-range';
import type { Page } from './use-page';

interface Props {
  /** Why they are left out. */
  readonly note: string;
  /** `name=value`. */
  readonly unread: readonly string[];
  readonly onRemove: (gone: string) => void;
}

/** Values of the address that the page leaves out. */
export function UnreadValues({ note, unread, onRemove }: Props) {
  if (unread.length === 0) return null;
  const remove = (gone: string) => {
    onRemove(gone);
    document.getElementById('main')?.focus({ preventScroll: true });
  };
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 text-xs text-warn">
      <span>{note}</span>
      {unread.map((one) => (
        <span key={one} className="inline-flex max-w-80 items-center gap-1 rounded-md bg-warn-soft pl-2">
          <code className="min-w-0 truncate py-1">{one}</code>
          <button
            type="button"
            aria-label={`Remove ${one}`}
            className="touch inline-flex items-center gap-0.5 rounded p-1 hover:bg-hover"
            onClick={() => remove(one)}
          >
            <Close width="12" height="12" /> Remove
          </button>
        </span>
      ))}
    </div>
  );
}

/** The range of the address, where it is none: the page shows another one. */
export function UnreadRange({ page }: { readonly page: Page }) {
  const named = nameRange(page).replace(/^L/, 'l');
  return (
    <UnreadValues
      note={`The address has no valid range, so the page shows the ${named}:`}
      unread={unreadRange(page.search)}
      // Half a stretch is none either.
      onRemove={(gone) =>
        page.change(gone.startsWith('range=') ? { range: undefined } : { from: undefined, to: undefined })
      }
    />
  );
}
