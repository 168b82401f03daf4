import { type QueryKey, useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { Dialog } from '../../ui/dialog';
import { Failure } from '../../ui/error-state';
import { Managed } from './managed';
import type { ResourceName } from './use-managed';

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
  /** Name of the row, where configuration files may manage such rows. */
  readonly nameOf?: (one: T) => ResourceName;
  readonly children: (one: T) => ReactNode;
}

/** Opens the row that the address names, loading it if needed. Reports an unknown row. */
export function OpenedOne<T>({ what, row, isLoaded, queryKey, read, onClose, nameOf, children }: Props<T>) {
  const asked = useQuery({ queryKey: [...queryKey, 'opened'], queryFn: read, enabled: row === undefined && isLoaded });
  const one = row ?? asked.data;
  const shown = useRef('');
  const name = JSON.stringify(queryKey);
  if (one !== undefined && one !== null) shown.current = name;
  // Its own removal takes the row away before the change has told so.
  const isGone = one === null && shown.current === name;
  useEffect(() => {
    if (isGone) onClose();
  });
  if (one !== undefined && one !== null) {
    if (nameOf === undefined) return children(one);
    return (
      <Managed of={nameOf(one)} at="dialog">
        {children(one)}
      </Managed>
    );
  }
  if (asked.error !== null) {
    return (
      <Dialog title={`This ${what} could not be loaded`} onClose={onClose}>
        <Failure of={asked} />
      </Dialog>
    );
  }
  if (asked.data !== null || isGone) return null;
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
