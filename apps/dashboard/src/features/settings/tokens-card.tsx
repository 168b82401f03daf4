import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useMayChange } from '../../api/session';
import { type Token, useTokens } from '../../api/settings';
import { formatAgo } from '../../format/format-time';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { CodeBlock } from '../../ui/copy-button';
import { type Column, DataTable } from '../../ui/data-table';
import { Dialog } from '../../ui/dialog';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { Plus } from '../../ui/icons';
import type { FieldSpec } from '../projects/prepare-form';
import { SpecForm } from '../projects/spec-form';

const FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: 'Name', kind: 'text', required: true, hint: 'Stands in the audit' },
  {
    name: 'role',
    label: 'May',
    kind: 'text',
    options: [
      { value: 'admin', label: 'read and change' },
      { value: 'viewer', label: 'only read' },
    ],
  },
  { name: 'expires_at', label: 'Ends at', kind: 'instant', hint: 'Local time; empty = never' },
];

/** Admin tokens: who may sign in, and what they may. */
export function TokensCard() {
  const tokens = useTokens();
  const mayChange = useMayChange();
  const [isCreating, setIsCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<Token | null>(null);
  const affects = [['tokens']];
  const create = useChange({
    run: (json: { name: string; role: 'admin' | 'viewer' }) => read(api.tokens.$post({ json })),
    affects,
  });
  const revoke = useChange({
    run: (id: string) => api.tokens[':id'].$delete({ param: { id } }),
    affects,
    done: 'The token and its sessions are refused from now on',
  });
  return (
    <Card
      title="Admin tokens"
      flush
      actions={
        <Button disabled={!mayChange} onClick={() => setIsCreating(true)}>
          <Plus /> New token
        </Button>
      }
    >
      {tokens.error && <ErrorState error={tokens.error} onRetry={() => void tokens.refetch()} />}
      <DataTable
        caption="Admin tokens"
        columns={COLUMNS}
        rows={tokens.data?.data}
        rowKey={(row) => row.id}
        onRow={mayChange ? setRevoking : undefined}
        empty={
          <EmptyState title="No named tokens">
            ADMIN_TOKEN of the environment opens this. Named ones can be revoked one by one.
          </EmptyState>
        }
      />
      <Dialog title="New admin token" open={isCreating} onClose={() => setIsCreating(false)}>
        <SpecForm
          specs={FIELDS}
          resource={{ role: 'viewer' }}
          submitLabel="Create token"
          isPending={create.isPending}
          error={create.error}
          onSubmit={(body) =>
            create.mutate(body as { name: string; role: 'viewer' }, {
              onSuccess: ({ token }) => {
                setIsCreating(false);
                setSecret(token);
              },
            })
          }
        />
      </Dialog>
      <Dialog
        title="The new token"
        description="Copy it now: only its hash is kept."
        open={secret !== null}
        onClose={() => setSecret(null)}
        sticky
      >
        <CodeBlock label="Admin token" code={secret ?? ''} />
      </Dialog>
      <Dialog
        title={`Revoke ${revoking?.name}?`}
        description="Whoever uses it is signed out at once. This cannot be undone."
        open={revoking !== null}
        onClose={() => setRevoking(null)}
      >
        {revoke.error && <ErrorState error={revoke.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={() => setRevoking(null)}>Keep it</Button>
          <Button
            kind="danger"
            onClick={() => revoke.mutate(revoking?.id ?? '', { onSuccess: () => setRevoking(null) })}
          >
            Revoke
          </Button>
        </div>
      </Dialog>
    </Card>
  );
}

const COLUMNS: readonly Column<Token>[] = [
  {
    id: 'name',
    header: 'Name',
    value: (row) => row.name,
    cell: (row) => <span className="font-medium">{row.name}</span>,
  },
  {
    id: 'role',
    header: 'Role',
    value: (row) => row.role,
    cell: (row) => <Badge tone={row.role === 'admin' ? 'accent' : 'neutral'}>{row.role}</Badge>,
  },
  {
    id: 'prefix',
    header: 'Begins with',
    value: (row) => row.prefix,
    cell: (row) => <code className="font-mono text-xs">{row.prefix}…</code>,
  },
  {
    id: 'made',
    header: 'Made',
    wideOnly: true,
    value: (row) => row.created_at,
    cell: (row) => formatAgo(row.created_at, Date.now()),
  },
  {
    id: 'ends',
    header: 'Ends',
    wideOnly: true,
    value: (row) => row.expires_at,
    cell: (row) => (row.expires_at === null ? 'never' : formatAgo(row.expires_at, Date.now())),
  },
];
