import { type ReactNode, useState } from 'react';
import { Locked, useMayChange } from '../../api/session';
import { formatInstant } from '../../format/format-time';
import { usePage } from '../../range/use-page';
import { Button } from '../../ui/button';
import { DialogNote } from '../../ui/dialog';
import { type Manager, type ResourceName, useManagers } from './use-managed';

interface Props {
  readonly of: ResourceName;
  /** `dialog`: dialogs within show the note. */
  readonly at: 'page' | 'dialog';
  readonly children: ReactNode;
}

/** A resource that a configuration file may manage: then it is read-only until the user unlocks it. */
export function Managed({ of, at, children }: Props) {
  const { data: managers = [] } = useManagers(of);
  const [isUnlocked, setIsUnlocked] = useState(false);
  const mayChange = useMayChange();
  const isManaged = managers.length > 0;
  const note = isManaged && (
    <ManagedNote managers={managers} onUnlock={mayChange && !isUnlocked ? () => setIsUnlocked(true) : undefined} />
  );
  return (
    <Locked value={isManaged && !isUnlocked}>
      {at === 'page' && note}
      {at === 'page' ? children : <DialogNote value={note}>{children}</DialogNote>}
    </Locked>
  );
}

interface NoteProps {
  /** What it is about, if that is more than one resource. */
  readonly lead?: string;
  readonly managers: readonly Manager[];
  readonly onUnlock: (() => void) | undefined;
}

export function ManagedNote({ lead, managers, onUnlock }: NoteProps) {
  const { timeZone: zone } = usePage();
  return (
    <div
      role="note"
      className="mb-4 flex flex-wrap items-center justify-between gap-2 rounded-md bg-accent-soft px-3 py-2"
    >
      <div className="grid min-w-0 gap-1">
        {lead !== undefined && <p className="font-medium wrap-anywhere">{lead}</p>}
        {managers.map((manager) => (
          <p key={manager.apply_name} className="wrap-anywhere">
            Managed by the configuration file “{manager.apply_name}”, applied {formatInstant(manager.applied_at, zone)}.{' '}
            {manager.changed_at === null
              ? 'The next apply may undo a change made here.'
              : `${manager.changed_by} changed it ${formatInstant(manager.changed_at, zone)}: it may differ from the file.`}
          </p>
        ))}
      </div>
      {onUnlock !== undefined && (
        <Button size="small" onClick={onUnlock}>
          Unlock
        </Button>
      )}
    </div>
  );
}
