import { useMemo, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type Key, type KeyInput, type KeyWithSecret, useKeys } from '../../api/projects';
import { useMayChange } from '../../api/session';
import { useSystem } from '../../api/settings';
import { formatCount } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { type Column, DataTable } from '../../ui/data-table';
import { Dialog } from '../../ui/dialog';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { Input } from '../../ui/field';
import { Plus } from '../../ui/icons';
import { MoreRows } from '../../ui/more-rows';
import { useSettled } from '../../ui/use-settled';
import { KEY_FIELDS } from './field-specs';
import { KeyDialog } from './key-dialog';
import { SecretDialog } from './secret-dialog';
import { SpecForm } from './spec-form';

/** Keys of a project with what each has used, page by page. */
export function KeysCard({ projectId }: { readonly projectId: string }) {
  const mayChange = useMayChange();
  const [q, setQ] = useState('');
  const keys = useKeys(projectId, useSettled(q.trim()));
  const [isCreating, setIsCreating] = useState(false);
  const [open, setOpen] = useState<Key | null>(null);
  const [secret, setSecret] = useState<KeyWithSecret | null>(null);
  const model = useSystem().data?.providers.includes('demo') ? 'demo-chat' : 'gpt-4o-mini';
  const create = useChange({
    run: (json: KeyInput) => read(api.projects[':id'].keys.$post({ param: { id: projectId }, json })),
    affects: [['keys'], ['budgets']],
  });
  const rows = useMemo(() => keys.data?.pages.flatMap(({ data }) => data), [keys.data]);
  return (
    <Card
      title="Keys"
      flush
      actions={
        <>
          <Input
            type="search"
            aria-label="Find a key"
            placeholder="Find a key"
            className="w-40!"
            value={q}
            onChange={(event) => setQ(event.target.value)}
          />
          <Button disabled={!mayChange} onClick={() => setIsCreating(true)}>
            <Plus /> New key
          </Button>
        </>
      }
    >
      {keys.error && <ErrorState error={keys.error} onRetry={() => void keys.refetch()} />}
      <DataTable
        caption="Keys"
        columns={KEY_COLUMNS}
        rows={rows}
        rowKey={(row) => row.id}
        onRow={setOpen}
        empty={
          q === '' ? (
            <EmptyState title="No keys">Make one, and send a first request with it.</EmptyState>
          ) : (
            <EmptyState title="No key has this in its name" />
          )
        }
      />
      <MoreRows pages={keys} shown={rows?.length ?? 0} />
      <Dialog title="New key" open={isCreating} onClose={() => setIsCreating(false)}>
        <SpecForm
          specs={KEY_FIELDS}
          resource={{ rate_limit_per_minute: 60, budget_period: 'total' }}
          submitLabel="Create key"
          isPending={create.isPending}
          error={create.error}
          onSubmit={(body) =>
            create.mutate(body as unknown as KeyInput, {
              onSuccess: (key) => {
                setIsCreating(false);
                setSecret(key);
              },
            })
          }
        />
      </Dialog>
      {open !== null && <KeyDialog apiKey={open} onClose={() => setOpen(null)} onSecret={setSecret} />}
      {secret !== null && (
        <SecretDialog secret={secret.key} name={secret.name} model={model} onClose={() => setSecret(null)} />
      )}
    </Card>
  );
}

const limit = (value: number | null) => (value === null ? 'none' : formatCount(value));

const KEY_COLUMNS: readonly Column<Key>[] = [
  {
    id: 'name',
    header: 'Key',
    value: (key) => key.name,
    cell: (key) => (
      <span className="inline-flex max-w-full items-center gap-2">
        <span className="truncate font-medium">{key.name}</span>
        {!key.is_active && <Badge tone="bad">revoked</Badge>}
        {key.expires_at !== null && Date.parse(key.expires_at) < Date.now() && <Badge tone="warn">expired</Badge>}
      </span>
    ),
  },
  {
    id: 'prefix',
    header: 'Begins with',
    wideOnly: true,
    value: (key) => key.prefix,
    cell: (key) => <code className="font-mono text-xs">{key.prefix}…</code>,
  },
  {
    id: 'rate',
    header: 'Requests/min',
    align: 'right',
    wideOnly: true,
    value: (key) => key.rate_limit_per_minute,
    cell: (key) => limit(key.rate_limit_per_minute),
  },
  {
    id: 'tokens',
    header: 'Tokens/min',
    align: 'right',
    wideOnly: true,
    value: (key) => key.tokens_per_minute,
    cell: (key) => limit(key.tokens_per_minute),
  },
  {
    id: 'budget',
    header: 'Budget',
    align: 'right',
    value: (key) => key.budget_usd,
    cell: (key) =>
      key.budget_usd === null
        ? 'none'
        : `${formatUsd(key.budget_usd)} ${key.budget_period === 'month' ? 'a month' : ''}`,
  },
  {
    id: 'spent',
    header: 'Spent',
    align: 'right',
    value: (key) => key.spent_usd,
    cell: (key) => formatUsd(key.spent_usd),
  },
  {
    id: 'requests',
    header: 'Requests',
    align: 'right',
    wideOnly: true,
    value: (key) => key.requests,
    cell: (key) => formatCount(key.requests),
  },
];
