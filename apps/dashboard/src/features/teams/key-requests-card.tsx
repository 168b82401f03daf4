import type { AnswerFrom } from '@llm0/gateway/admin/route-types';
import { useQuery } from '@tanstack/react-query';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useProjectNames } from '../../api/projects';
import { Button } from '../../ui/button';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { shortId, useNameOf } from './use-teams';

type RequestedKey = AnswerFrom<typeof api.keys.$get>['data'][number];

const REQUESTED = ['keys', 'requested'];

/** Keys of members that wait, in all teams where the user may decide. */
export function KeyRequestsCard() {
  const requested = useQuery({
    queryKey: REQUESTED,
    queryFn: () => read(api.keys.$get({ query: { state: 'requested', limit: '200' } })),
  });
  const projectName = useProjectNames();
  const columns: readonly Column<RequestedKey>[] = [
    { header: 'Key', value: (row) => row.name },
    { header: 'Project', wideOnly: true, value: (row) => projectName(row.project_id) },
    { header: 'For', value: (row) => row.user_id, cell: (row) => <UserName id={row.user_id} /> },
    { header: '', value: () => '', cell: (row) => <Decision of={row} /> },
  ];
  return (
    <TableCard
      title="Key requests"
      caption="Keys that wait for approval"
      query={requested}
      columns={columns}
      rows={requested.data?.data}
      rowKey={(row) => row.id}
      emptyTitle="No key waits"
      emptyHint="Teams with approval of keys show new keys of their members here."
    />
  );
}

function UserName({ id }: { readonly id: string | null }) {
  const name = useNameOf('users', id ?? undefined);
  return id === null ? 'Unknown' : (name ?? shortId(id));
}

function Decision({ of: { id: key_id, project_id: id, name } }: { readonly of: RequestedKey }) {
  const at = api.projects[':id'].keys[':key_id'];
  const param = { id, key_id };
  const affects = [['keys']];
  const approve = useChange({ run: () => read(at.approve.$post({ param })), affects, done: `${name} approved` });
  const refuse = useChange({ run: () => at.refuse.$post({ param }), affects, done: `${name} refused` });
  const isPending = approve.isPending || refuse.isPending;
  return (
    <span className="flex justify-end gap-1.5">
      <Button
        size="small"
        disabled={isPending}
        aria-label={`Approve ${name}`}
        onClick={() => approve.mutate(undefined)}
      >
        Approve
      </Button>
      <Button
        size="small"
        kind="danger"
        disabled={isPending}
        aria-label={`Refuse ${name}`}
        onClick={() => refuse.mutate(undefined)}
      >
        Refuse
      </Button>
    </span>
  );
}
