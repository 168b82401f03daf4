import { type QueryKey, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Dialog } from '../../ui/dialog';
import { Failure } from '../../ui/error-state';

interface Props<T> {
  /** Name for the message about a missing row. */
  readonly what: string;
  /** The row of the address, if loaded. */
  readonly row: T | undefined;
  /** Rows are loaded: one that is not among them is asked for. */
  readonly isLoaded: boolean;
  readonly queryKey: QueryKey;
  /** null: there is none. */
  readonly read: () => Promise<T | null>;
  readonly onClose: () => void;
  readonly children: (one: T) => ReactNode;
}

/** Opens the row that the address names, loading it if needed. Reports an unknown row. */
export function OpenedOne<T>({ what, row, isLoaded, queryKey, read, onClose, children }: Props<T>) {
  const asked = useQuery({ queryKey: [...queryKey, 'opened'], queryFn: read, enabled: row === undefined && isLoaded });
  const one = row ?? asked.data;
  if (one !== undefined && one !== null) return children(one);
  if (asked.error !== null) {
    return (
      <Dialog title={`This ${what} could not be loaded`} onClose={onClose}>
        <Failure of={asked} />
      </Dialog>
    );
  }
  if (asked.data !== null) return null;
  return (
    <Dialog
      title={`No such ${what}`}
      description="It may have been deleted, or the link may be incomplete."
      onClose={onClose}
    >
      {null}
    </Dialog>
  );
}
