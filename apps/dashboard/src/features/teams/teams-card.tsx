import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useMay } from '../../api/session';
import { Button } from '../../ui/button';
import { Plus } from '../../ui/icons';
import { Name } from '../../ui/name';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ManagedMark } from '../forms/managed-set';
import { SpecDialog } from '../forms/spec-form';
import { budgetColumn, LIMIT_FIELDS, TEAM_FIELDS } from './level-fields';
import { TeamDialog } from './team-dialog';
import { type Team, type TeamInput, useTeams } from './use-teams';

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
  { header: 'Projects', value: (row) => row.projects },
  { header: 'Members', value: (row) => row.members },
  budgetColumn(),
];
const FIELDS = [...TEAM_FIELDS, ...LIMIT_FIELDS];

export function TeamsCard() {
  const teams = useTeams();
  const mayCreate = useMay('change_teams');
  const [isCreating, setIsCreating] = useState(false);
  const [shown, setShown] = useState<Team | null>(null);
  const create = useChange({
    run: (json: TeamInput) => read(api.teams.$post({ json })),
    affects: [['teams'], ['budgets']],
    done: 'Team created',
  });
  return (
    <TableCard
      title="Teams"
      actions={
        mayCreate && (
          <Button onClick={() => setIsCreating(true)}>
            <Plus /> New team
          </Button>
        )
      }
      caption="Teams"
      query={teams}
      columns={COLUMNS}
      rows={teams.data?.data}
      rowKey={(row) => row.id}
      onRow={setShown}
      emptyTitle="No teams"
      emptyHint="Ask an admin to add you to a team."
    >
      <SpecDialog
        title="New team"
        open={isCreating}
        onClose={() => setIsCreating(false)}
        specs={FIELDS}
        resource={null}
        submitLabel="Create team"
        change={create}
        onSubmit={(body) => create.mutate(body as TeamInput, { onSuccess: () => setIsCreating(false) })}
      />
      {shown !== null && <TeamDialog of={shown} onClose={() => setShown(null)} />}
    </TableCard>
  );
}
