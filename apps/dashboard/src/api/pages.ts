import { type InfiniteData, keepPreviousData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query';

/** A page of a long list. */
interface RowPage {
  readonly data: readonly unknown[];
  readonly next_cursor: string | null;
}

export interface PagesOptions<P extends RowPage> {
  readonly queryKey: QueryKey;
  /** Reads the page at a cursor; the first one without. */
  readonly readPage: (at: { cursor?: string }) => Promise<P>;
  /** The caller inserts new rows; a refresh loads no page again. */
  readonly isFresh?: boolean;
  /** false delays the first load. */
  readonly isEnabled?: boolean;
  /** Shows the previous rows until the new ones load. */
  readonly keepsPrevious?: boolean;
}

/** A paged list: all its rows so far. */
export const usePages = <P extends RowPage>({
  queryKey,
  readPage,
  isEnabled,
  isFresh,
  keepsPrevious,
}: PagesOptions<P>) =>
  useInfiniteQuery({
    queryKey,
    enabled: isEnabled,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor }) => readPage(cursor === undefined ? {} : { cursor }),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    select: toRows<P>,
    ...(isFresh ? { staleTime: Number.POSITIVE_INFINITY } : {}),
    placeholderData: keepsPrevious ? keepPreviousData : undefined,
  });

const toRows = <P extends RowPage>({ pages }: InfiniteData<P>) => ({
  rows: pages.flatMap(({ data }) => data) as P['data'][number][],
  last: pages.at(-1),
  pages: pages.length,
});
