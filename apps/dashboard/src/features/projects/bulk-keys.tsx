import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Key } from '../../api/projects';
import { countOf } from '../../format/format-number';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { useToast } from '../../ui/toast';
import { ChangeButton } from '../forms/change-button';
import { ManagedMark, useManagedSet } from '../forms/managed-set';
import { SpecForm } from '../forms/spec-form';
import { useRecentRequestsOf } from '../forms/use-impact';
import { asksFor, BULK_ACTIONS, type BulkAction, changeOf, describeBulk, type Failed, runBulk } from './prepare-bulk';

interface Props {
  readonly selected: readonly Key[];
  readonly onSelect: (keys: readonly Key[]) => void;
}

/** Actions on the selected keys. */
export function BulkBar({ selected, onSelect }: Props) {
  const [action, setAction] = useState<BulkAction | null>(null);
  if (selected.length === 0) return null;
  return (
    <div
      role="toolbar"
      aria-label="Selected keys"
      className="flex flex-wrap items-center gap-2 border-b bg-hover px-3 py-1.5"
    >
      <span role="status" className="mr-1 font-medium">
        {selected.length} selected
      </span>
      {Object.entries(BULK_ACTIONS).map(([name, { label }]) => (
        <ChangeButton
          key={name}
          size="small"
          kind={name === 'revoke' ? 'danger' : 'default'}
          onClick={() => setAction(name as BulkAction)}
        >
          {label}
        </ChangeButton>
      ))}
      <Button size="small" kind="ghost" onClick={() => onSelect([])}>
        Clear selection
      </Button>
      {action !== null && <BulkDialog {...{ action, selected, onSelect }} onClose={() => setAction(null)} />}
    </div>
  );
}

interface DialogProps extends Props {
  readonly action: BulkAction;
  readonly onClose: () => void;
}

/** One confirmation for all. Failed ones stay selected with their reasons, locked ones without a change. */
function BulkDialog({ action, selected, onSelect, onClose }: DialogProps) {
  const { fields, confirm, label } = BULK_ACTIONS[action];
  const [keys] = useState(() => selected.filter((key) => key.is_active));
  const { free, locked, isLocked, note } = useManagedSet({
    ...{ resource: 'key', noun: 'key', of: keys },
    ...{ idOf: (key: Key) => key.id, nameOf: (key: Key) => key.name },
  });
  const requests = useRecentRequestsOf(free);
  const { run, failed, isPending } = useBulk(action, free, (left) => {
    onSelect([...left, ...locked]);
    if (left.length === 0) onClose();
  });
  const [error, setError] = useState<Error | null>(null);
  const submit = (body: Record<string, unknown>) => {
    if (!asksFor(action, body)) return setError(new Error('Enter at least one change.'));
    setError(null);
    void run(body);
  };
  return (
    <Dialog
      title={`${label}: ${countOf(keys.length, 'key')}`}
      description={describeBulk(action, free.length, selected.filter((key) => !key.is_active).length, requests)}
      onClose={onClose}
    >
      {note}
      <div className="grid gap-3">
        <ul aria-label="Keys" className="max-h-40 divide-y overflow-y-auto rounded-md border px-3">
          {keys.map((key) => (
            <li key={key.id} className="flex flex-wrap justify-between gap-x-3 py-1">
              <span className="inline-flex min-w-0 items-center gap-2 wrap-anywhere">
                {key.name} <ManagedMark resource="key" id={key.id} />
              </span>
              {isLocked(key) ? (
                <span className="text-muted">stays unchanged</span>
              ) : (
                <Outcome failed={failed?.find((one) => one.key.id === key.id)} isDone={failed !== null} />
              )}
            </li>
          ))}
        </ul>
        <SpecForm
          specs={fields}
          resource={null}
          submitLabel={
            failed === null ? `${confirm} ${countOf(free.length, 'key')}` : `Retry ${countOf(failed.length, 'key')}`
          }
          change={{ isPending, error }}
          disabled={free.length === 0}
          onSubmit={submit}
        />
      </div>
    </Dialog>
  );
}

function Outcome({ failed, isDone }: { readonly failed: Failed | undefined; readonly isDone: boolean }) {
  if (!isDone) return null;
  if (failed === undefined) return <span className="text-good">done</span>;
  return (
    <span role="alert" className="text-bad wrap-anywhere">
      {failed.message}
    </span>
  );
}

function useBulk(action: BulkAction, keys: readonly Key[], onDone: (left: readonly Key[]) => void) {
  const client = useQueryClient();
  const toast = useToast();
  const [failed, setFailed] = useState<readonly Failed[] | null>(null);
  const [isPending, setIsPending] = useState(false);
  const run = async (body: Record<string, unknown>) => {
    setIsPending(true);
    const asked = failed?.map(({ key }) => key) ?? keys;
    const left = await runBulk(asked, async (key) => {
      const param = { id: key.project_id, key_id: key.id };
      const routes = api.projects[':id'].keys[':key_id'];
      const json = changeOf(action, body, key);
      return json === null ? routes.$delete({ param }) : routes.$patch({ param, json });
    });
    setIsPending(false);
    setFailed(left.length === 0 ? null : left);
    toast(left.length === 0 ? `Updated ${countOf(keys.length, 'key')}` : `${left.length} of ${asked.length} failed`);
    for (const queryKey of [['keys'], ['budgets']]) void client.invalidateQueries({ queryKey });
    onDone(left.map(({ key }) => key));
  };
  return { run, failed, isPending };
}
