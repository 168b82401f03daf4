import { type ReactNode, useState } from 'react';
import { useMayChange } from '../../api/session';
import { Badge } from '../../ui/badge';
import { Failure } from '../../ui/error-state';
import { ManagedNote } from './managed';
import { describeManaged, filesOf, splitManaged } from './prepare-managed';
import { type Manager, type ResourceName, useManagersOf } from './use-managed';

interface Options<T> {
  /** As the audit names the kind. */
  readonly resource: string;
  readonly noun: string;
  readonly of: readonly T[];
  readonly idOf: (one: T) => string;
  readonly nameOf: (one: T) => string;
}

interface ManagedSet<T> {
  /** What may be changed; nothing while it is unknown what files manage. */
  readonly free: readonly T[];
  /** What stays as it is until the user unlocks it. */
  readonly locked: readonly T[];
  readonly isLocked: (one: T) => boolean;
  /** Says which ones are managed, and unlocks them. */
  readonly note: ReactNode;
}

/** One change of several resources: those that configuration files manage stay until the user unlocks them. */
export function useManagedSet<T>({ resource, noun, of, idOf, nameOf }: Options<T>): ManagedSet<T> {
  const managers = useManagersOf(resource);
  const [isUnlocked, setIsUnlocked] = useState(false);
  const mayChange = useMayChange();
  const { data } = managers;
  if (data === undefined) return { free: [], locked: [], isLocked: () => false, note: <Failure of={managers} /> };
  const { managed, free } = splitManaged(of, idOf, data);
  const isLocked = (one: T) => !isUnlocked && managed.includes(one);
  const files = filesOf(managed.flatMap((one): readonly Manager[] => data.get(idOf(one)) ?? []));
  const note = managed.length > 0 && (
    <ManagedNote
      lead={describeManaged(managed.map(nameOf), { all: of.length, noun, isUnlocked })}
      managers={files}
      onUnlock={mayChange && !isUnlocked ? () => setIsUnlocked(true) : undefined}
    />
  );
  return isUnlocked ? { free: of, locked: [], isLocked, note } : { free, locked: managed, isLocked, note };
}

/** Rows that appear later don't ask again. */
const MARK_MS = 60_000;

/** Marks a row of a list that a configuration file manages. */
export function ManagedMark({ resource, id }: ResourceName) {
  const managers = useManagersOf(resource, MARK_MS).data?.get(id);
  if (managers === undefined) return null;
  const files = managers.map((manager) => `“${manager.apply_name}”`).join(', ');
  return (
    <span title={`Managed by the configuration file ${files}`} className="inline-flex">
      <Badge tone="accent">managed</Badge>
    </span>
  );
}
