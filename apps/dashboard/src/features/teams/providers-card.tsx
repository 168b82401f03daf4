import { useState } from 'react';
import { Button } from '../../ui/button';
import { CodeBlock } from '../../ui/copy-button';
import { Plus } from '../../ui/icons';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ProviderDialog } from './provider-dialog';
import { type IdentityProvider, useIdentityProviders } from './use-teams';

const COLUMNS: readonly Column<IdentityProvider>[] = [
  { header: 'Name', value: (row) => row.name },
  { header: 'Issuer', value: (row) => row.issuer },
  { header: 'Groups with a role', wideOnly: true, value: (row) => row.group_roles.length },
  { header: 'Tokens work for', wideOnly: true, value: (row) => row.jwt?.audience ?? null },
  { header: 'Set by', wideOnly: true, value: (row) => (row.is_from_environment ? 'environment' : 'admin API') },
];

export function ProvidersCard() {
  const providers = useIdentityProviders();
  const [shown, setShown] = useState<IdentityProvider | 'new' | null>(null);
  return (
    <TableCard
      title="Identity providers"
      actions={
        <Button onClick={() => setShown('new')}>
          <Plus /> Add provider
        </Button>
      }
      caption="Identity providers"
      query={providers}
      columns={COLUMNS}
      rows={providers.data?.data}
      rowKey={(row) => row.id}
      onRow={setShown}
      emptyTitle="No identity providers"
      emptyHint={
        <>
          Register this gateway at your issuer, then add the issuer here.
          <div className="mt-3 text-left">
            <CodeBlock label="Callback address" code={`${location.origin}/auth/callback`} />
          </div>
          <span className="mt-3 block">
            <Button kind="primary" onClick={() => setShown('new')}>
              Add the first provider
            </Button>
          </span>
        </>
      }
    >
      {shown !== null && <ProviderDialog of={shown === 'new' ? null : shown} onClose={() => setShown(null)} />}
    </TableCard>
  );
}
