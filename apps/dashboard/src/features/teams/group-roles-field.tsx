import { Button } from '../../ui/button';
import { Input, Select } from '../../ui/form';
import { Plus } from '../../ui/icons';
import type { WidgetProps } from '../forms/prepare-form';
import { ROLE_NAMES } from './role-names';
import { TeamPicker } from './team-picker';
import { type IdentityProvider, useTeams } from './use-teams';

type GroupRole = IdentityProvider['group_roles'][number];

/** Groups of an identity provider with their teams and roles; the value is the JSON of the API. */
export function GroupRolesField({ label, hint, error, value, onValue }: WidgetProps) {
  const first = useTeams().data?.rows[0];
  const rows: readonly GroupRole[] = value === '' ? [] : JSON.parse(value);
  const set = (next: readonly GroupRole[]) => onValue(JSON.stringify(next));
  const change = (index: number, changes: Partial<GroupRole>) =>
    set(rows.map((row, at) => (at === index ? { ...row, ...changes } : row)));
  const add = () => set([...rows, { group: '', team_id: first?.id ?? '', role: 'member' }]);
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-xs font-medium text-muted">{label}</legend>
      <ul className="grid gap-2">
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity, and keep their order
          <li key={index} className="grid grid-cols-2 gap-1.5 sm:grid-cols-[minmax(0,1fr)_8rem_9rem_auto]">
            <Input
              aria-label={`Group ${index + 1}`}
              placeholder="Group"
              value={row.group}
              onValue={(group) => change(index, { group })}
            />
            <TeamPicker
              aria-label={`Team of group ${index + 1}`}
              value={row.team_id}
              onValue={(id) => change(index, { team_id: id })}
            />
            <Select
              aria-label={`Role of group ${index + 1}`}
              options={ROLE_NAMES}
              value={row.role}
              onValue={(role) => change(index, { role: role as GroupRole['role'] })}
            />
            <Button aria-label={`Remove group ${index + 1}`} onClick={() => set(rows.toSpliced(index, 1))}>
              Remove
            </Button>
          </li>
        ))}
      </ul>
      <Button size="small" className="mt-2" disabled={first === undefined} onClick={add}>
        <Plus /> Add group
      </Button>
      <p className={`mt-1 text-xs ${error ? 'text-bad' : 'text-muted'}`}>{error ?? hint}</p>
    </fieldset>
  );
}
