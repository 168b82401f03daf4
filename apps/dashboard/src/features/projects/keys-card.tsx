import { type Query, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { findKey, type Key, type KeyInput, type KeyWithSecret, useListedKeys } from '../../api/projects';
import { Needed, useMayChange } from '../../api/session';
import { useLiveLists } from '../../api/stats';
import { formatAgo, formatInstant, type TimeZoneChoice } from '../../format/format-time';
import { formatUsdExact } from '../../format/format-usd';
import { useOpened } from '../../range/use-opened';
import { usePage } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { SearchInput, Tick } from '../../ui/form';
import { Plus } from '../../ui/icons';
import { Mono, Name } from '../../ui/name';
import type { Column } from '../../ui/table/column';
import { MoreRows } from '../../ui/table/more-rows';
import { TableCard } from '../../ui/table/table-card';
import { useSettled } from '../../ui/use-settled';
import { ChangeButton } from '../forms/change-button';
import { ManagedMark } from '../forms/managed-set';
import { OpenedOne } from '../forms/opened-one';
import { SpecDialog } from '../forms/spec-form';
import { BulkBar } from './bulk-keys';
import { NEW_KEY_FIELDS } from './field-specs';
import { KeyDialog } from './key-dialog';
import { SecretDialog } from './secret-dialog';
import { ownerOf } from './spending/prepare-outlooks';
import { RunsOutNext } from './spending/runs-out-next';
import { daysColumn, outlookColumn } from './spending/spending-columns';
import { useOutlooks } from './spending/use-outlooks';

/** Keys of a project with their usage, by page. Members change those of their own. */
export const KeysCard = (props: { readonly projectId: string }) => (
  <Needed value="change_own_keys">
    <KeysOf {...props} />
  </Needed>
);

function KeysOf({ projectId }: { readonly projectId: string }) {
  const [q, setQ] = useState('');
  const opened = useOpened();
  const { keys, rows, runsOut, budgets } = useKeyRows(projectId, useSettled(q.trim()), opened.id);
  const mayChange = useMayChange();
  const [selected, setSelected] = useState<readonly Key[]>([]);
  const { timeZone } = usePage();
  const [secret, setSecret] = useState<KeyWithSecret | null>(null);
  const open = rows?.find(({ id }) => id === opened.id);
  return (
    <TableCard
      title="Keys"
      actions={
        <>
          <SearchInput label="Find a key" className="w-40!" value={q} onValue={setQ} />
          <ChangeButton onClick={() => opened.open('new')}>
            <Plus /> New key
          </ChangeButton>
        </>
      }
      caption="Keys"
      query={keys}
      columns={[...KEY_COLUMNS, runsOut, lastUsedColumn(timeZone)]}
      rows={rows}
      above={
        <>
          {rows?.length !== 0 && <RunsOutNext budgets={budgets} linkOf={({ id }) => opened.linkTo(id)} />}
          <BulkBar {...{ selected }} onSelect={setSelected} />
        </>
      }
      lead={mayChange ? selectLead(rows ?? [], selected, setSelected) : undefined}
      rowKey={(row) => row.id}
      linkOf={(row) => opened.linkTo(row.id)}
      emptyTitle={q === '' ? 'No keys' : 'No matching keys'}
      emptyHint={q === '' ? <FirstKey onCreate={() => opened.open('new')} /> : undefined}
    >
      <MoreRows pages={keys} shown={rows?.length ?? 0} />
      <NewKey
        projectId={projectId}
        open={opened.id === 'new' && mayChange}
        onClose={opened.close}
        onSecret={setSecret}
      />
      {opened.id !== undefined && opened.id !== 'new' && (
        <OpenedOne
          what="key"
          row={open}
          isLoaded={rows !== undefined}
          queryKey={['keys', projectId, opened.id]}
          read={() => findKey(projectId, opened.id ?? '')}
          onClose={opened.close}
          nameOf={({ id }) => ({ resource: 'key', id })}
        >
          {(key) => <KeyDialog of={key} onClose={opened.close} onSecret={setSecret} />}
        </OpenedOne>
      )}
      {secret !== null && <SecretDialog of={secret} onClose={() => setSecret(null)} />}
    </TableCard>
  );
}

const FRESH_MS = 1000;

/** A key is opened with what it has spent by now, in its row too. */
function useFreshKeys(projectId: string, openedId: string | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (openedId === undefined || openedId === 'new') return;
    const isOld = ({ state }: Query) => state.dataUpdatedAt > 0 && Date.now() - state.dataUpdatedAt > FRESH_MS;
    void client.invalidateQueries({ queryKey: ['keys', projectId], predicate: isOld });
  }, [client, projectId, openedId]);
}

const FirstKey = ({ onCreate }: { readonly onCreate: () => void }) => (
  <>
    Create one to send requests.
    <span className="mt-3 block">
      <ChangeButton kind="primary" onClick={onCreate}>
        Create a key
      </ChangeButton>
    </span>
  </>
);

/** Keys with the ends of their budgets; no rows until both are there, so that none moves. */
const LIVE = ['keys', 'budgets'];

function useKeyRows(projectId: string, q: string, openedId: string | undefined) {
  useFreshKeys(projectId, openedId);
  useLiveLists(LIVE, projectId);
  const keys = useListedKeys(projectId, q);
  const budgets = useOutlooks('key', projectId);
  const runsOut = outlookColumn<Key>((key) => budgets.outlooks.get(ownerOf(projectId, key.id)), 'very');
  return { keys, rows: budgets.isReady ? keys.data?.rows : undefined, runsOut, budgets };
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
      specs={NEW_KEY_FIELDS}
      resource={{ rate_limit_per_minute: 60, budget_period: 'total' }}
      submitLabel="Create key"
      change={create}
      onSubmit={(body) => create.mutate(body as unknown as KeyInput, { onSuccess })}
    />
  );
}

const isInGrace = ({ previous_secret_expires_at: end }: Key) => end !== null && Date.parse(end) > Date.now();

/** The shortest period first. */
function budgetsOf({ daily_budget_usd: day, weekly_budget_usd: week, budget_usd: usd, budget_period: period }: Key) {
  const all = [
    ['a day', day],
    ['a week', week],
    [period === 'month' ? 'a month' : 'in all', usd],
  ] as const;
  return all.flatMap(([name, amount]) => (amount === null ? [] : [[name, amount] as const]));
}

/** Sums name their period. */
export const KEY_COLUMNS: readonly Column<Key>[] = [
  {
    header: 'Key',
    value: (key) => key.name,
    cell: (key) => (
      <span className="block max-md:py-1 md:max-w-72">
        <Name name={key.name}>
          {Object.entries(key.labels ?? {}).map(([name, value]) => (
            <Badge key={name}>
              {name}={value}
            </Badge>
          ))}
          <ManagedMark resource="key" id={key.id} />
          {key.is_sign_on && <Badge>sign-on tokens</Badge>}
          {key.state === 'inactive' && <Badge tone="bad">revoked</Badge>}
          {key.state === 'requested' && <Badge tone="warn">waiting for approval</Badge>}
          {key.expires_at !== null && Date.parse(key.expires_at) < Date.now() && <Badge tone="warn">expired</Badge>}
          {isInGrace(key) && <Badge tone="warn">old secret works</Badge>}
        </Name>
        {/* Phones have no column for it. */}
        <span className="block text-2xs whitespace-normal text-muted md:hidden">
          {key.last_used_at === null ? 'never used' : `used ${formatAgo(key.last_used_at, Date.now())}`}
        </span>
      </span>
    ),
  },
  { header: 'Starts with', wideOnly: true, value: (key) => key.prefix, cell: (key) => <Mono>{key.prefix}…</Mono> },
  { header: 'Requests/min', unit: 'count', none: 'none', wideOnly: 'very', value: (key) => key.rate_limit_per_minute },
  { header: 'Tokens/min', unit: 'count', none: 'none', wideOnly: 'most', value: (key) => key.tokens_per_minute },
  {
    header: 'Budget',
    align: 'right',
    value: (key) => key.daily_budget_usd ?? key.weekly_budget_usd ?? key.budget_usd,
    cell: (key) => {
      const budgets = budgetsOf(key);
      return budgets.length === 0
        ? 'none'
        : budgets.map(([period, usd]) => (
            <span key={period} className="block">
              {formatUsdExact(usd)} <span className="max-sm:block">{period}</span>
            </span>
          ));
    },
  },
  { header: 'Spent, all time', unit: 'usd', value: (key) => key.spent_usd },
  daysColumn((key) => key.spend_by_day, true),
  { header: 'Requests, all time', unit: 'count', wideOnly: 'most', value: (key) => key.requests },
];

const lastUsedColumn = (timeZone: TimeZoneChoice): Column<Key> => ({
  header: 'Last used',
  align: 'right',
  wideOnly: true,
  value: (key) => key.last_used_at,
  cell: ({ last_used_at: at }) =>
    at === null ? (
      'never'
    ) : (
      <time dateTime={at} title={formatInstant(at, timeZone)}>
        {formatAgo(at, Date.now())}
      </time>
    ),
});

/** A box to tick on each row, and one for all that are loaded. */
function selectLead(rows: readonly Key[], selected: readonly Key[], onSelect: (keys: readonly Key[]) => void) {
  const ids = new Set(selected.map(({ id }) => id));
  const isAll = rows.length > 0 && rows.every(({ id }) => ids.has(id));
  return {
    heading: <Tick label="Select all keys shown" isTicked={isAll} onTick={() => onSelect(isAll ? [] : rows)} />,
    cell: (key: Key) => (
      <Tick
        label={`Select ${key.name}`}
        isTicked={ids.has(key.id)}
        onTick={() => onSelect(ids.has(key.id) ? selected.filter(({ id }) => id !== key.id) : [...selected, key])}
      />
    ),
  };
}
