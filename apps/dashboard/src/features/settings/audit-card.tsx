import { AUDIT_ACTIONS, AUDIT_RESOURCES } from '@llm0/core/access/audit-names';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useKeyNames, useProjectNames } from '../../api/projects';
import { type AuditEntry, type AuditFilter, useAudit, useTokens } from '../../api/settings';
import { dropUndefined } from '../../range/page-search';
import { useOpened } from '../../range/use-opened';
import { usePage } from '../../range/use-page';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Select } from '../../ui/form';
import { Close } from '../../ui/icons';
import { type Column, timeColumn } from '../../ui/table/column';
import { MoreRows } from '../../ui/table/more-rows';
import { TableCard } from '../../ui/table/table-card';
import { AuditEntryDrawer } from './audit-entry';
import type { AuditSearch } from './audit-search';
import { type AuditNames, keysOf, nounOf, prepareSentence } from './prepare-audit';

const optionsOf = (names: readonly string[]) => names.map((name) => [name, nounOf(name)] as const);

const RESOURCES = optionsOf(AUDIT_RESOURCES);
/** As an action in the address. */
const WITHOUT_SIGN_INS = '-sign_in';
const ACTIONS = [[WITHOUT_SIGN_INS, 'Without sign-ins'] as const, ...optionsOf(AUDIT_ACTIONS)];
const DAY_MS = 86_400_000;
const PERIODS = [
  ['1', 'Last day'],
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
] as const;

/** Every change as a sentence; a row opens what was before and after. */
export function AuditCard() {
  const search = useSearch({ from: '/audit' }) as AuditSearch;
  const audit = useAudit(useFilter(search));
  const rows = audit.data?.rows;
  const names = useAuditNames(rows ?? []);
  const opened = useOpened();
  const open = rows?.find(({ id }) => id === opened.id);
  const columns = useMemo(() => [timeColumn<AuditEntry>(names.timeZone), ...entryColumns(names)], [names]);
  return (
    <TableCard
      actions={<Filters rows={rows ?? []} search={search} />}
      caption="Changes, newest first"
      query={audit}
      columns={columns}
      rows={rows}
      rowKey={(row) => row.id}
      csvName="audit"
      linkOf={(row) => opened.linkTo(row.id)}
      emptyTitle={NAMES.every((name) => search[name] === undefined) ? 'No changes yet' : 'No matching changes'}
    >
      <MoreRows pages={audit} shown={rows?.length ?? 0} />
      {open !== undefined && <AuditEntryDrawer of={open} names={names} onClose={opened.close} />}
      {open === undefined && opened.id !== undefined && rows !== undefined && (
        <Dialog title="No such change" onClose={opened.close}>
          It isn't among the changes shown. Show more, or leave out filters.
        </Dialog>
      )}
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
  { header: 'Resource', wideOnly: 'very', value: (row) => nounOf(row.resource) },
];

const NAMES = ['actor', 'action', 'resource', 'resource_id', 'days'] as const;

/** Its start stays until the filter changes. */
const useFilter = ({ actor, action, resource, resource_id: id, days }: AuditSearch): AuditFilter =>
  useMemo(() => {
    const from = days && new Date(Date.now() - Number(days) * DAY_MS).toISOString();
    const asked = action === WITHOUT_SIGN_INS ? { action_not: 'sign_in' } : { action };
    return dropUndefined({ actor, ...asked, resource, resource_id: id, from });
  }, [actor, action, resource, id, days]);

/** A value of the address that no list has is a choice, too. */
const withOwn = (options: typeof RESOURCES, own: string | undefined): typeof RESOURCES =>
  own === undefined || options.some(([name]) => name === own) ? options : [...options, [own, nounOf(own)]];

interface FiltersProps {
  readonly rows: readonly AuditEntry[];
  readonly search: AuditSearch;
}

function Filters({ rows, search }: FiltersProps) {
  const navigate = useNavigate();
  const { data: tokens } = useTokens();
  const named = [...(tokens?.data ?? []).map(({ name }) => name), ...rows.map(({ actor }) => actor)];
  const actors = [...new Set([...named, ...(search.actor === undefined ? [] : [search.actor])])].sort();
  const set = (name: keyof AuditSearch) => (value: string) => {
    const change: AuditSearch = { [name]: value === '' ? undefined : value };
    void navigate({ to: '/audit', search: (kept) => ({ ...kept, ...change }), replace: true, resetScroll: false });
  };
  const field = (label: string, anyLabel: string) => ({ 'aria-label': label, anyLabel, className: 'w-36' });
  return (
    <>
      {search.resource_id !== undefined && (
        <Button size="small" kind="ghost" onClick={() => set('resource_id')('')}>
          One {nounOf(search.resource ?? 'resource')} only <Close width="12" height="12" />
        </Button>
      )}
      <Select {...field('Actor', 'Anyone')} options={actors} value={search.actor ?? ''} onValue={set('actor')} />
      <Select
        {...field('Action', 'Any action')}
        options={withOwn(ACTIONS, search.action)}
        value={search.action ?? ''}
        onValue={set('action')}
      />
      <Select
        {...field('Resource', 'Everything')}
        options={withOwn(RESOURCES, search.resource)}
        value={search.resource ?? ''}
        onValue={set('resource')}
      />
      <Select {...field('Period', 'Any time')} options={PERIODS} value={search.days ?? ''} onValue={set('days')} />
    </>
  );
}
