import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type Key, type KeyInput, type KeyWithSecret, useKeys } from '../../api/projects';
import { formatUsd } from '../../format/format-usd';
import { Badge } from '../../ui/badge';
import { SearchInput } from '../../ui/form';
import { Plus } from '../../ui/icons';
import { Mono } from '../../ui/mono';
import { Name } from '../../ui/name';
import type { Column } from '../../ui/table/column';
import { MoreRows } from '../../ui/table/more-rows';
import { TableCard } from '../../ui/table/table-card';
import { useSettled } from '../../ui/use-settled';
import { ChangeButton } from '../forms/change-button';
import { SpecDialog } from '../forms/spec-form';
import { KEY_FIELDS } from './field-specs';
import { KeyDialog } from './key-dialog';
import { SecretDialog } from './secret-dialog';

/** Keys of a project with what each has used, page by page. */
export function KeysCard({ projectId }: { readonly projectId: string }) {
  const [q, setQ] = useState('');
  const keys = useKeys(projectId, useSettled(q.trim()));
  const [isCreating, setIsCreating] = useState(false);
  const [open, setOpen] = useState<Key | null>(null);
  const [secret, setSecret] = useState<KeyWithSecret | null>(null);
  const rows = keys.data?.rows;
  return (
    <TableCard
      title="Keys"
      actions={
        <>
          <SearchInput label="Find a key" className="w-40!" value={q} onValue={setQ} />
          <ChangeButton onClick={() => setIsCreating(true)}>
            <Plus /> New key
          </ChangeButton>
        </>
      }
      caption="Keys"
      query={keys}
      columns={COLUMNS}
      rows={rows}
      rowKey={(row) => row.id}
      onRow={setOpen}
      emptyTitle={q === '' ? 'No keys' : 'No key has this in its name'}
      emptyHint={q === '' ? 'Make one, and send a first request with it.' : undefined}
    >
      <MoreRows pages={keys} shown={rows?.length ?? 0} />
      <NewKey projectId={projectId} open={isCreating} onClose={() => setIsCreating(false)} onSecret={setSecret} />
      {open !== null && <KeyDialog of={open} onClose={() => setOpen(null)} onSecret={setSecret} />}
      {secret !== null && <SecretDialog of={secret} onClose={() => setSecret(null)} />}
    </TableCard>
  );
}

interface NewKeyProps {
  readonly projectId: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onSecret: (key: KeyWithSecret) => void;
}

/** Stays while it is closed: a key that is being made then has its secret shown all the same. */
function NewKey({ projectId, open, onClose, onSecret }: NewKeyProps) {
  const create = useChange({
    run: (json: KeyInput) => read(api.projects[':id'].keys.$post({ param: { id: projectId }, json })),
    affects: [['keys'], ['budgets']],
  });
  const onSuccess = (key: KeyWithSecret) => {
    onClose();
    onSecret(key);
  };
  return (
    <SpecDialog
      title="New key"
      open={open}
      onClose={onClose}
      specs={KEY_FIELDS}
      resource={{ rate_limit_per_minute: 60, budget_period: 'total' }}
      submitLabel="Create key"
      change={create}
      onSubmit={(body) => create.mutate(body as unknown as KeyInput, { onSuccess })}
    />
  );
}

const COLUMNS: readonly Column<Key>[] = [
  {
    header: 'Key',
    value: (key) => key.name,
    cell: (key) => (
      <Name name={key.name}>
        {!key.is_active && <Badge tone="bad">revoked</Badge>}
        {key.expires_at !== null && Date.parse(key.expires_at) < Date.now() && <Badge tone="warn">expired</Badge>}
      </Name>
    ),
  },
  { header: 'Begins with', wideOnly: true, value: (key) => key.prefix, cell: (key) => <Mono>{key.prefix}…</Mono> },
  { header: 'Requests/min', unit: 'count', none: 'none', wideOnly: true, value: (key) => key.rate_limit_per_minute },
  { header: 'Tokens/min', unit: 'count', none: 'none', wideOnly: true, value: (key) => key.tokens_per_minute },
  {
    header: 'Budget',
    align: 'right',
    value: (key) => key.budget_usd,
    cell: (key) =>
      key.budget_usd === null
        ? 'none'
        : `${formatUsd(key.budget_usd)} ${key.budget_period === 'month' ? 'a month' : ''}`,
  },
  { header: 'Spent', unit: 'usd', value: (key) => key.spent_usd },
  { header: 'Requests', unit: 'count', wideOnly: true, value: (key) => key.requests },
];
