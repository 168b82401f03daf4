import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { Button } from '../../ui/button';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { Plus } from '../../ui/icons';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';
import { type IdentityProvider, type IdentityProviderInput, useIdentityProviders } from './use-teams';

const COLUMNS: readonly Column<IdentityProvider>[] = [
  { header: 'Name', value: (row) => row.name },
  { header: 'Issuer', value: (row) => row.issuer },
  { header: 'Groups with a role', wideOnly: true, value: (row) => row.group_roles.length },
  { header: 'Tokens work for', wideOnly: true, value: (row) => row.jwt?.audience ?? null },
  { header: 'Set by', wideOnly: true, value: (row) => (row.is_from_environment ? 'environment' : 'admin API') },
];
const FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: 'Name', kind: 'text', required: true, hint: 'On the sign-in button' },
  { name: 'issuer', label: 'Issuer', kind: 'text', required: true, placeholder: 'https://login.example.com' },
  { name: 'client_id', label: 'Client ID', kind: 'text', required: true },
  {
    name: 'client_secret',
    label: 'Client secret',
    kind: 'text',
    secret: true,
    hint: 'Leave empty for a public client',
  },
  {
    ...{ name: 'audience', label: 'Audience of tokens', kind: 'text' },
    hint: 'Signed tokens (JWT) with this audience work in place of keys; empty = none do',
  },
];
const toProvider = ({ audience, ...rest }: Readonly<Record<string, unknown>>) =>
  ({ ...rest, jwt: typeof audience === 'string' ? { audience } : null }) as IdentityProviderInput;

const AFFECTS = [['identity-providers'], ['sign-in-choices']];

export function ProvidersCard() {
  const providers = useIdentityProviders();
  const [isCreating, setIsCreating] = useState(false);
  const [removing, setRemoving] = useState<IdentityProvider | null>(null);
  const create = useChange({
    run: (json: IdentityProviderInput) => read(api['identity-providers'].$post({ json })),
    affects: AFFECTS,
    done: 'Identity provider added',
  });
  const remove = useChange({
    run: ({ id }: IdentityProvider) => api['identity-providers'][':id'].$delete({ param: { id } }),
    affects: AFFECTS,
  });
  return (
    <TableCard
      title="Identity providers"
      actions={
        <Button onClick={() => setIsCreating(true)}>
          <Plus /> Add provider
        </Button>
      }
      caption="Identity providers"
      query={providers}
      columns={COLUMNS}
      rows={providers.data?.data}
      rowKey={(row) => row.id}
      onRow={(row) => setRemoving(row.is_from_environment ? null : row)}
      emptyTitle="No identity providers"
      emptyHint={`Register ${location.origin}/auth/callback at your issuer, then add it here.`}
    >
      <SpecDialog
        title="Add identity provider"
        description={`Redirect address: ${location.origin}/auth/callback`}
        open={isCreating}
        onClose={() => setIsCreating(false)}
        specs={FIELDS}
        resource={null}
        submitLabel="Add provider"
        change={create}
        onSubmit={(body) => create.mutate(toProvider(body), { onSuccess: () => setIsCreating(false) })}
      />
      {removing !== null && (
        <ConfirmDialog
          title={`Remove ${removing.name}?`}
          description="Its sessions end, and the roles that its groups gave. This cannot be undone."
          confirmLabel="Remove"
          change={remove}
          onConfirm={() => remove.mutate(removing, { onSuccess: () => setRemoving(null) })}
          onClose={() => setRemoving(null)}
        />
      )}
    </TableCard>
  );
}
