import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { formatAgo } from '../../format/format-time';
import { Button } from '../../ui/button';
import { Plus } from '../../ui/icons';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';
import { budgetColumn } from './level-fields';
import { type User, type UserInput, useUsers } from './use-teams';
import { UserDialog } from './user-dialog';

const COLUMNS: readonly Column<User>[] = [
  { header: 'Name', value: (row) => row.name },
  { header: 'Address', value: (row) => row.email },
  {
    header: 'State',
    value: (row) => (row.is_active ? 'active' : 'deactivated'),
    tone: (row) => (row.is_active ? 'neutral' : 'accent'),
  },
  budgetColumn(),
  {
    header: 'Last sign-in',
    wideOnly: true,
    value: (row) => row.last_sign_in_at,
    cell: (row) => (row.last_sign_in_at === null ? 'never' : formatAgo(row.last_sign_in_at, Date.now())),
  },
];
const FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: 'Name', kind: 'text', required: true },
  {
    name: 'email',
    label: 'Address',
    kind: 'text',
    required: true,
    hint: 'The first sign-in with this verified address becomes this user',
  },
];
const AFFECTS = [['users']];

export function UsersCard() {
  const users = useUsers();
  const [isCreating, setIsCreating] = useState(false);
  const [chosen, setChosen] = useState<User | null>(null);
  const create = useChange({
    run: (json: UserInput) => read(api.users.$post({ json })),
    affects: AFFECTS,
    done: 'User added',
  });
  return (
    <TableCard
      title="Users"
      actions={
        <Button onClick={() => setIsCreating(true)}>
          <Plus /> Add user
        </Button>
      }
      caption="Users"
      query={users}
      columns={COLUMNS}
      rows={users.data?.data}
      rowKey={(row) => row.id}
      onRow={setChosen}
      emptyTitle="No users"
      emptyHint="People become users when they sign in with an identity provider."
    >
      <SpecDialog
        title="Add user"
        open={isCreating}
        onClose={() => setIsCreating(false)}
        specs={FIELDS}
        resource={null}
        submitLabel="Add user"
        change={create}
        onSubmit={(body) => create.mutate(body as UserInput, { onSuccess: () => setIsCreating(false) })}
      />
      {chosen !== null && <UserDialog of={chosen} onClose={() => setChosen(null)} />}
    </TableCard>
  );
}
