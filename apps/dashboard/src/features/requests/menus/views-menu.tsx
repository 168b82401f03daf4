import { Popover } from 'radix-ui';
import { useState } from 'react';
import { useMayChange } from '../../../api/session';
import {
  type SavedView,
  useChangeView,
  useCreateView,
  useDeleteView,
  useViews,
  type ViewInput,
} from '../../../api/views';
import { Button } from '../../../ui/button';
import { Failure } from '../../../ui/error-state';
import { Form, Input } from '../../../ui/form';
import { Chevron } from '../../../ui/icons';
import { ConfirmButton } from '../../forms/confirm-button';
import { MenuPanel } from './menu-panel';

interface Props {
  /** The view that was taken last. */
  readonly taken: string | undefined;
  /** State of the list. */
  readonly current: Omit<ViewInput, 'name'>;
  readonly onTake: (view: SavedView) => void;
}

/** Views that admins share: one click sets filters, columns and sort. */
export function ViewsMenu({ taken, current, onTake }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const views = useViews();
  const mayChange = useMayChange();
  const list = (views.data?.data ?? []).toSorted((a, b) => a.name.localeCompare(b.name));
  const active = list.find(({ id }) => id === taken);
  const isEdited = active !== undefined && !isSame(active, current);
  return (
    <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
      <Popover.Trigger asChild>
        <Button>
          <span className="max-w-40 truncate">{active === undefined ? 'Views' : active.name}</span>
          {isEdited && <span className="text-muted">(changed)</span>}
          <Chevron className="text-faint" />
        </Button>
      </Popover.Trigger>
      <MenuPanel label="Saved views" className="grid w-72 max-w-[calc(100vw-1rem)] gap-2">
        <Failure of={views} />
        {list.length === 0 && <p className="text-xs text-muted">No saved views yet.</p>}
        <ul className="grid gap-0.5">
          {list.map((view) => (
            <li key={view.id}>
              <button
                type="button"
                aria-pressed={view.id === taken}
                className="w-full truncate rounded px-2 py-1 text-left hover:bg-hover aria-pressed:bg-accent-soft aria-pressed:text-accent"
                title={`${view.name}, saved by ${view.created_by}`}
                onClick={() => {
                  onTake(view);
                  setIsOpen(false);
                }}
              >
                {view.name}
              </button>
            </li>
          ))}
        </ul>
        {mayChange && <SaveView {...{ active, isEdited, current, onTake }} />}
      </MenuPanel>
    </Popover.Root>
  );
}

interface SaveProps extends Pick<Props, 'current' | 'onTake'> {
  readonly active: SavedView | undefined;
  readonly isEdited: boolean;
}

function SaveView({ active, isEdited, current, onTake }: SaveProps) {
  const [name, setName] = useState('');
  const [create, change, remove] = [useCreateView(), useChangeView(), useDeleteView()];
  const save = () =>
    create.mutate(
      { ...current, name: name.trim() },
      {
        onSuccess: (view) => {
          setName('');
          onTake(view);
        },
      },
    );
  return (
    <div className="grid gap-2 border-t pt-2">
      <Failure of={create} />
      <Failure of={change} />
      <Form className="flex gap-1" onSubmit={() => name.trim() !== '' && save()}>
        <Input aria-label="View name" placeholder="Save this view as…" value={name} onValue={setName} />
        <Button type="submit" disabled={name.trim() === '' || create.isPending}>
          Save
        </Button>
      </Form>
      {active !== undefined && (
        <div className="flex flex-wrap gap-1">
          <Button size="small" disabled={!isEdited} onClick={() => change.mutate({ ...current, id: active.id })}>
            Update “<span className="max-w-24 truncate">{active.name}</span>”
          </Button>
          <ConfirmButton
            size="small"
            title={`Delete view ${active.name}?`}
            impact="It is deleted for everyone. No requests are deleted."
            confirmLabel="Delete view"
            change={remove}
            onConfirm={(close) => remove.mutate({ id: active.id }, { onSuccess: close })}
          >
            Delete
          </ConfirmButton>
        </div>
      )}
    </div>
  );
}

const isSame = (view: SavedView, { filters = {}, columns = [], sort }: Props['current']) =>
  view.sort === sort &&
  JSON.stringify(view.columns) === JSON.stringify(columns) &&
  JSON.stringify(sortedEntries(view.filters)) === JSON.stringify(sortedEntries(filters));

const sortedEntries = (filters: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(filters)
    .map(([name, values]) => [name, values.toSorted()] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
