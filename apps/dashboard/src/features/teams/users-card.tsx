import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read, readOrNull } from '../../api/client';
import { formatAgo } from '../../format/format-time';
import { useOpened } from '../../range/use-opened';
import { Button } from '../../ui/button';
import { SearchInput } from '../../ui/form';
import { Plus } from '../../ui/icons';
import type { Column } from '../../ui/table/column';
import { MoreRows } from '../../ui/table/more-rows';
import { TableCard } from '../../ui/table/table-card';
import { useSettled } from '../../ui/use-settled';
import { OpenedOne } from '../forms/opened-one';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';
import { limitColumn } from './level-fields';
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
  limitColumn(),
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
  const [q, setQ] = useState('');
  const users = useUsers(useSettled(q.trim()));
  const [isCreating, setIsCreating] = useState(false);
  const opened = useOpened();
  const create = useChange({
    run: (json: UserInput) => read(api.users.$post({ json })),
    affects: AFFECTS,
    done: 'User added',
  });
  return (
    <TableCard
      title="Users"
      actions={
        <>
          <SearchInput label="Find a user" className="w-40!" value={q} onValue={setQ} />
          <Button onClick={() => setIsCreating(true)}>
            <Plus /> Add user
          </Button>
        </>
      }
      caption="Users"
      query={users}
      columns={COLUMNS}
      rows={users.data?.rows}
      rowKey={(row) => row.id}
      linkOf={(row) => opened.linkTo(row.id)}
      emptyTitle={q === '' ? 'No users' : 'No matching users'}
      emptyHint={q === '' ? 'People become users when they sign in with an identity provider.' : undefined}
    >
      <MoreRows pages={users} shown={users.data?.rows.length ?? 0} />
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
      {opened.id !== undefined && (
        <OpenedOne
          what="user"
          row={users.data?.rows.find(({ id }) => id === opened.id)}
          isLoaded={users.data !== undefined}
          queryKey={['users', opened.id]}
          read={() => readOrNull(api.users[':id'].$get({ param: { id: opened.id ?? '' } }))}
          onClose={opened.close}
        >
          {(user) => <UserDialog of={user} onClose={opened.close} />}
        </OpenedOne>
      )}
    </TableCard>
  );
}
