import { AUDIT_ACTIONS, AUDIT_RESOURCES } from '@llm0/core/access/audit-names';
import { useMemo, useState } from 'react';
import { useKeyNames, useProjectNames } from '../../api/projects';
import { type AuditEntry, type AuditFilter, useAudit, useTokens } from '../../api/settings';
import { useOpened } from '../../range/use-opened';
import { usePage } from '../../range/use-page';
import { Select } from '../../ui/form';
import { type Column, timeColumn } from '../../ui/table/column';
import { MoreRows } from '../../ui/table/more-rows';
import { TableCard } from '../../ui/table/table-card';
import { AuditEntryDrawer } from './audit-entry';
import { type AuditNames, keysOf, prepareSentence, spaced } from './prepare-audit';

const optionsOf = (names: readonly string[]) => names.map((name) => [name, spaced(name)] as const);

const RESOURCES = optionsOf(AUDIT_RESOURCES);
const ACTIONS = optionsOf(AUDIT_ACTIONS);
const DAY_MS = 86_400_000;
const PERIODS = [
  ['1', 'Last day'],
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
] as const;

/** Every change as a sentence; a row opens what was before and after. */
export function AuditCard() {
  const [filter, setFilter] = useState<AuditFilter>({});
  const audit = useAudit(filter);
  const rows = audit.data?.rows;
  const names = useAuditNames(rows ?? []);
  const opened = useOpened();
  const open = rows?.find(({ id }) => id === opened.id);
  const columns = useMemo(() => [timeColumn<AuditEntry>(names.timeZone), ...entryColumns(names)], [names]);
  return (
    <TableCard
      actions={<Filters rows={rows ?? []} filter={filter} onChange={setFilter} />}
      caption="Changes, newest first"
      query={audit}
      columns={columns}
      rows={rows}
      rowKey={(row) => row.id}
      csvName="audit"
      linkOf={(row) => opened.linkTo(row.id)}
      emptyTitle={Object.keys(filter).length === 0 ? 'No changes yet' : 'No matching changes'}
    >
      <MoreRows pages={audit} shown={rows?.length ?? 0} />
      {open !== undefined && <AuditEntryDrawer of={open} names={names} onClose={opened.close} />}
    </TableCard>
  );
}

function useAuditNames(rows: readonly AuditEntry[]): AuditNames {
  const { timeZone } = usePage();
  const project = useProjectNames();
  const key = useKeyNames(keysOf(rows));
  return useMemo(() => ({ project, key, timeZone }), [project, key, timeZone]);
}

const entryColumns = (names: AuditNames): readonly Column<AuditEntry>[] => [
  { header: 'Change', wraps: true, value: (row) => prepareSentence(row, names) },
  { header: 'Actor', wideOnly: true, narrow: true, value: (row) => row.actor },
  { header: 'Resource', wideOnly: 'very', value: (row) => spaced(row.resource) },
];

interface FiltersProps {
  readonly rows: readonly AuditEntry[];
  readonly filter: AuditFilter;
  readonly onChange: (filter: AuditFilter) => void;
}

function Filters({ rows, filter, onChange }: FiltersProps) {
  const { data: tokens } = useTokens();
  const [days, setDays] = useState('');
  const named = [...(tokens?.data ?? []).map(({ name }) => name), ...rows.map(({ actor }) => actor)];
  const actors = [...new Set([...named, ...(filter.actor === undefined ? [] : [filter.actor])])].sort();
  const set = (name: keyof AuditFilter) => (value: string) => {
    const { [name]: _before, ...others } = filter;
    onChange(value === '' ? others : { ...others, [name]: value });
  };
  const setPeriod = (value: string) => {
    setDays(value);
    set('from')(value === '' ? '' : new Date(Date.now() - Number(value) * DAY_MS).toISOString());
  };
  const field = (label: string, anyLabel: string) => ({ 'aria-label': label, anyLabel, className: 'w-36' });
  return (
    <>
      <Select {...field('Actor', 'Anyone')} options={actors} value={filter.actor ?? ''} onValue={set('actor')} />
      <Select
        {...field('Action', 'Any action')}
        options={ACTIONS}
        value={filter.action ?? ''}
        onValue={set('action')}
      />
      <Select
        {...field('Resource', 'Everything')}
        options={RESOURCES}
        value={filter.resource ?? ''}
        onValue={set('resource')}
      />
      <Select {...field('Period', 'Any time')} options={PERIODS} value={days} onValue={setPeriod} />
    </>
  );
}
