import { formatCount } from '../../format/format-number';
import { Button } from '../button';

interface Pages {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
}

/** Footer of a paged list: number of rows so far, and a button for more. */
export function MoreRows({ pages, shown }: { readonly pages: Pages; readonly shown: number }) {
  if (!pages.hasNextPage) return null;
  return (
    <div className="flex items-center gap-3 border-t px-4 py-2 text-xs text-muted">
      <Button size="small" isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
        Show more
      </Button>
      <span className="nums">{formatCount(shown)} shown; search to find more</span>
    </div>
  );
}
