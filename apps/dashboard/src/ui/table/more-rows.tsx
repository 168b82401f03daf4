import { formatCount } from '../../format/format-number';
import { Button } from '../button';

interface Pages {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
}

/** Below a list that comes page by page: how many rows there are so far, and the next ones. */
export function MoreRows({ pages, shown }: { readonly pages: Pages; readonly shown: number }) {
  if (!pages.hasNextPage) return null;
  return (
    <div className="flex items-center gap-3 border-t px-4 py-2 text-xs text-muted">
      <Button size="small" disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
        Show more
      </Button>
      <span className="nums">{formatCount(shown)} shown; search to find more</span>
    </div>
  );
}
