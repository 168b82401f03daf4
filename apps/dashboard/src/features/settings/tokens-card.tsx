import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useMayChange } from '../../api/session';
import { type Token, useTokens } from '../../api/settings';
import { formatAgo } from '../../format/format-time';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { CodeBlock } from '../../ui/copy-button';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { Plus } from '../../ui/icons';
import { Mono } from '../../ui/mono';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';

/** Admin tokens: who may sign in, and what they may. */
export function TokensCard() {
  const tokens = useTokens();
  const mayChange = useMayChange();
  const [isCreating, setIsCreating] = useState(false);
  const [revoking, setRevoking] = useState<Token | null>(null);
  return (
    <TableCard
      title="Admin tokens"
      actions={
        <ChangeButton onClick={() => setIsCreating(true)}>
          <Plus /> New token
        </ChangeButton>
      }
      caption="Admin tokens"
      query={tokens}
      columns={COLUMNS}
      rows={tokens.data?.data}
      rowKey={(row) => row.id}
      onRow={mayChange ? setRevoking : undefined}
      emptyTitle="No named tokens"
      emptyHint="ADMIN_TOKEN of the environment opens this. Named ones can be revoked one by one."
    >
      <NewToken open={isCreating} onClose={() => setIsCreating(false)} />
      {revoking !== null && <RevokeDialog of={revoking} onClose={() => setRevoking(null)} />}
    </TableCard>
  );
}

const COLUMNS: readonly Column<Token>[] = [
  { header: 'Name', value: (row) => row.name, cell: (row) => <span className="font-medium">{row.name}</span> },
  { header: 'Role', value: (row) => row.role, tone: (row) => (row.role === 'admin' ? 'accent' : 'neutral') },
  { header: 'Begins with', value: (row) => row.prefix, cell: (row) => <Mono>{row.prefix}…</Mono> },
  {
    header: 'Made',
    wideOnly: true,
    value: (row) => row.created_at,
    cell: (row) => formatAgo(row.created_at, Date.now()),
  },
  {
    header: 'Ends',
    wideOnly: true,
    value: (row) => row.expires_at,
    cell: (row) => (row.expires_at === null ? 'never' : formatAgo(row.expires_at, Date.now())),
  },
];

const FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: 'Name', kind: 'text', required: true, hint: 'Stands in the audit' },
  { name: 'role', label: 'May', kind: 'text', options: { admin: 'read and change', viewer: 'only read' } },
  { name: 'expires_at', label: 'Ends at', kind: 'instant', hint: 'Local time; empty = never' },
];
const AFFECTS = [['tokens']];

/** Stays while it is closed: a token that is being made then is shown all the same. */
function NewToken({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  const create = useChange({
    run: (json: { name: string; role: Token['role'] }) => read(api.tokens.$post({ json })),
    affects: AFFECTS,
  });
  const onSuccess = ({ token }: { token: string }) => {
    onClose();
    setSecret(token);
  };
  return (
    <>
      <SpecDialog
        title="New admin token"
        open={open}
        onClose={onClose}
        specs={FIELDS}
        resource={{ role: 'viewer' }}
        submitLabel="Create token"
        change={create}
        onSubmit={(body) => create.mutate(body as { name: string; role: Token['role'] }, { onSuccess })}
      />
      {secret !== null && (
        <Dialog
          title="The new token"
          description="Copy it now: only its hash is kept."
          onClose={() => setSecret(null)}
          sticky
        >
          <CodeBlock label="Admin token" code={secret} />
        </Dialog>
      )}
    </>
  );
}

function RevokeDialog({ of: token, onClose }: DialogOf<Token>) {
  const revoke = useChange({
    run: () => api.tokens[':id'].$delete({ param: { id: token.id } }),
    affects: AFFECTS,
    done: 'The token and its sessions are refused from now on',
  });
  return (
    <ConfirmDialog
      title={`Revoke ${token.name}?`}
      description="Whoever uses it is signed out at once. This cannot be undone."
      confirmLabel="Revoke"
      change={revoke}
      onConfirm={() => revoke.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}
