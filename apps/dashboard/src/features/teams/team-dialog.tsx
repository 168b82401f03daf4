import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useMay } from '../../api/session';
import { Button } from '../../ui/button';
import { Dialog, type DialogOf } from '../../ui/dialog';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { Managed } from '../forms/managed';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecForm } from '../forms/spec-form';
import { useSave } from '../forms/use-save';
import { LIMIT_FIELDS, TEAM_FIELDS } from './level-fields';
import { ROLE_NAMES } from './role-names';
import { SharesCard } from './shares-card';
import { UserField } from './team-picker';
import { type Member, type MemberInput, type OneTeam, useMembers } from './use-teams';

/** A team: its members, its name and its limits. */
export function TeamDialog({ of: team, onClose }: DialogOf<OneTeam>) {
  const members = useMembers(team.id);
  const mayChange = useMay('change_members');
  const maySpend = useMay('read_spend');
  return (
    <Dialog
      title={team.name}
      description="A role applies to open sessions within a second."
      kind="drawer"
      onClose={onClose}
    >
      <TableCard
        title="Members"
        caption="Members"
        query={members}
        columns={mayChange ? [...COLUMNS, removeColumn(team.id)] : COLUMNS}
        rows={members.data?.data}
        rowKey={(row) => row.user_id}
        emptyTitle="No members"
        emptyHint="Add users, or give the team to a group of an identity provider."
      />
      {maySpend && team.monthly_cap_usd !== null && <SharesCard teamId={team.id} />}
      {mayChange && <AddMember teamId={team.id} />}
      {mayChange && (
        <Managed of={{ resource: 'team', id: team.id }} at="page">
          <Settings of={team} onClose={onClose} />
        </Managed>
      )}
    </Dialog>
  );
}

const COLUMNS: readonly Column<Member>[] = [
  { header: 'Name', value: (row) => row.name },
  { header: 'Address', wideOnly: true, value: (row) => row.email },
  { header: 'Role', value: (row) => ROLE_NAMES[row.role] },
  { header: 'By', wideOnly: true, value: (row) => (row.is_from_group ? 'group' : 'hand') },
];

const removeColumn = (teamId: string): Column<Member> => ({
  header: '',
  value: () => '',
  cell: (row) => <RemoveMember teamId={teamId} of={row} />,
});

const affects = (teamId: string) => [['teams', teamId], ['teams']];

function RemoveMember({ teamId, of: { user_id, name } }: { readonly teamId: string; readonly of: Member }) {
  const remove = useChange({
    run: () => api.teams[':id'].members[':user_id'].$delete({ param: { id: teamId, user_id } }),
    affects: affects(teamId),
    done: `${name} removed`,
  });
  return (
    <Button
      size="small"
      disabled={remove.isPending}
      onClick={() => remove.mutate(undefined)}
      aria-label={`Remove ${name}`}
    >
      Remove
    </Button>
  );
}

/** Admins of a team name it; its limits are for admins of the organization. */
function Settings({ of: team, onClose }: DialogOf<OneTeam>) {
  const mayLimit = useMay('change_teams');
  const param = { id: team.id };
  const save = useSave({
    read: () => api.teams[':id'].$get({ param }),
    write: (json, options) => api.teams[':id'].$patch({ param, json }, options),
    affects: [['teams'], ['budgets']],
    done: 'Team saved',
  });
  return (
    <section aria-label="Settings" className="mt-4">
      <h3 className="mb-2 font-medium">Settings</h3>
      <SpecForm
        specs={mayLimit ? [...TEAM_FIELDS, ...LIMIT_FIELDS] : TEAM_FIELDS}
        resource={team}
        submitLabel="Save team"
        change={save}
        onSubmit={(_, edit) => save.mutate(edit, { onSuccess: onClose })}
      />
    </section>
  );
}

function AddMember({ teamId }: { readonly teamId: string }) {
  const add = useChange({
    run: (json: MemberInput) => read(api.teams[':id'].members.$post({ param: { id: teamId }, json })),
    affects: affects(teamId),
    done: 'Member saved',
  });
  const specs: readonly FieldSpec[] = [
    { name: 'user_id', label: 'User', kind: 'text', required: true, widget: UserField },
    { name: 'role', label: 'Role', kind: 'text', required: true, options: ROLE_NAMES },
  ];
  return (
    <section aria-label="Add a member" className="mt-4">
      <h3 className="mb-2 font-medium">Add a member, or change a role</h3>
      <SpecForm
        specs={specs}
        resource={{ user_id: '', role: 'member' }}
        submitLabel="Save member"
        change={add}
        onSubmit={(body) => add.mutate(body as MemberInput)}
      />
    </section>
  );
}
