import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import type { RowLink } from '../ui/table/data-table';
import type { PageSearch } from './page-search';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The entry before it is the same page with nothing open. */
    readonly isOpened?: boolean;
  }
}

/** Open panel of a list, by its id in the address: Back closes it, and the address opens it in another tab. */
export function useOpened() {
  const { open: id } = useSearch({ strict: false }) as PageSearch;
  const navigate = useNavigate();
  const { history } = useRouter();
  return {
    id,
    linkTo: (one: string): RowLink => ({
      to: '.',
      search: (before: object) => ({ ...before, open: one }),
      state: { isOpened: true },
      resetScroll: false,
    }),
    open: (one: string) =>
      void navigate({
        to: '.',
        search: (before: object) => ({ ...before, open: one }),
        state: { isOpened: true },
        resetScroll: false,
      }),
    /** Another one in place of it: Back still closes. */
    show: (one: string) =>
      void navigate({
        to: '.',
        search: (before: object) => ({ ...before, open: one }),
        state: history.location.state,
        replace: true,
        resetScroll: false,
      }),
    close: () => {
      if (history.location.state.isOpened) history.back();
      else {
        const search = (before: object) => ({ ...before, open: undefined });
        void navigate({ to: '.', search, replace: true, resetScroll: false });
      }
    },
  };
}
