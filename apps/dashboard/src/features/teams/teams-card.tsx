import { useMemo, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read, readOrNull } from '../../api/client';
import { useMay } from '../../api/session';
import { asInterval, useSpend } from '../../api/stats';
import { rangeQuery, untilNow } from '../../range/time-range';
import { useOpened } from '../../range/use-opened';
import { Button } from '../../ui/button';
import { SearchInput } from '../../ui/form';
import { Plus } from '../../ui/icons';
import { Name } from '../../ui/name';
import type { Column } from '../../ui/table/column';
import { MoreRows } from '../../ui/table/more-rows';
import { TableCard } from '../../ui/table/table-card';
import { useSettled } from '../../ui/use-settled';
import { ManagedMark } from '../forms/managed-set';
import { OpenedOne } from '../forms/opened-one';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';
import { DAY_MS, prepareDays, sparkDays } from '../projects/spending/prepare-days';
import { ownerOf } from '../projects/spending/prepare-outlooks';
import { daysColumn, outlookColumn } from '../projects/spending/spending-columns';
import { useOutlooks } from '../projects/spending/use-outlooks';
import { LIMIT_FIELDS, limitColumn, TEAM_FIELDS } from './level-fields';
import { TeamDialog } from './team-dialog';
import { type OneTeam, type Organization, type Team, type TeamInput, useOrganizations, useTeams } from './use-teams';

const COLUMNS: readonly Column<Team>[] = [
  {
    header: 'Team',
    value: (row) => row.name,
    cell: (row) => (
      <Name name={row.name}>
        <ManagedMark resource="team" id={row.id} />
      </Name>
    ),
  },
  { header: 'Projects', unit: 'count', value: (row) => row.projects },
  { header: 'Members', unit: 'count', wideOnly: true, value: (row) => row.members },
  limitColumn(),
  { header: 'Cost center', wideOnly: 'very', value: (row) => row.cost_center },
];

/** Teams with days of spend. */
const MOST = '1000';

/** What each team spent, and when its budget ends. */
function useSpendColumns(): readonly Column<Team>[] {
  const [nowMs] = useState(() => Date.now());
  const { fromMs } = sparkDays(nowMs);
  const range = rangeQuery({ fromMs, toMs: untilNow(nowMs + 60_000) });
  const days = useSpend({ ...range, interval: asInterval(DAY_MS), group_by: 'team', top: MOST }).data;
  const organizations = useOrganizations().data?.rows;
  const { outlooks } = useOutlooks('team');
  return useMemo(() => {
    const names = new Map(organizations?.map(({ id, name }) => [id, name]));
    const daysOf = days === undefined ? () => null : prepareDays(days, fromMs);
    return [
      daysColumn((row) => (names.has(row.organization_id) ? daysOf(groupOf(row, names)) : null)),
      outlookColumn((row) => outlooks.get(ownerOf('', row.id)), true),
    ];
  }, [days, fromMs, organizations, outlooks]);
}

/** As statistics call a team. */
const groupOf = (team: Team, names: ReadonlyMap<string, string>) => `${names.get(team.organization_id)} / ${team.name}`;
const FIELDS = [...TEAM_FIELDS, ...LIMIT_FIELDS];

/** Where there is a choice. */
const organizationField = (all: readonly Organization[]): readonly FieldSpec[] =>
  all.length < 2
    ? []
    : [
        {
          ...{ name: 'organization_id', label: 'Organization', kind: 'text', required: true },
          options: Object.fromEntries(all.map(({ id, name }) => [id, name])),
        },
      ];

export function TeamsCard() {
  const [q, setQ] = useState('');
  const teams = useTeams(useSettled(q.trim()));
  const spendColumns = useSpendColumns();
  const mayCreate = useMay('change_teams');
  const [isCreating, setIsCreating] = useState(false);
  const opened = useOpened();
  const open: OneTeam | undefined = teams.data?.rows.find(({ id }) => id === opened.id);
  return (
    <TableCard
      title="Teams"
      actions={
        <>
          <SearchInput label="Find a team" className="w-40!" value={q} onValue={setQ} />
          {mayCreate && (
            <Button onClick={() => setIsCreating(true)}>
              <Plus /> New team
            </Button>
          )}
        </>
      }
      caption="Teams"
      query={teams}
      columns={[...COLUMNS.slice(0, 3), ...spendColumns, ...COLUMNS.slice(3)]}
      rows={teams.data?.rows}
      rowKey={(row) => row.id}
      linkOf={(row) => opened.linkTo(row.id)}
      emptyTitle={q === '' ? 'No teams' : 'No matching teams'}
      emptyHint={q === '' ? 'Ask an admin to add you to a team.' : undefined}
    >
      <MoreRows pages={teams} shown={teams.data?.rows.length ?? 0} />
      {isCreating && <NewTeam onClose={() => setIsCreating(false)} />}
      {opened.id !== undefined && (
        <OpenedOne
          what="team"
          row={open}
          isLoaded={teams.data !== undefined}
          queryKey={['teams', opened.id]}
          read={() => readOrNull(api.teams[':id'].$get({ param: { id: opened.id ?? '' } }))}
          onClose={opened.close}
        >
          {(team) => <TeamDialog of={team} onClose={opened.close} />}
        </OpenedOne>
      )}
    </TableCard>
  );
}

function NewTeam({ onClose }: { readonly onClose: () => void }) {
  const organizations = useOrganizations().data?.rows;
  const create = useChange({
    run: (json: TeamInput) => read(api.teams.$post({ json })),
    affects: [['teams'], ['budgets']],
    done: 'Team created',
  });
  if (organizations === undefined) return null;
  const usual = organizations.find(({ name }) => name === 'default') ?? organizations[0];
  return (
    <SpecDialog
      title="New team"
      onClose={onClose}
      specs={[...FIELDS, ...organizationField(organizations)]}
      resource={{ organization_id: usual?.id }}
      submitLabel="Create team"
      change={create}
      onSubmit={(body) => create.mutate(body as TeamInput, { onSuccess: onClose })}
    />
  );
}
