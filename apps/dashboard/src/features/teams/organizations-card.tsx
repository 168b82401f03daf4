import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { Button } from '../../ui/button';
import type { DialogOf } from '../../ui/dialog';
import { Plus } from '../../ui/icons';
import type { Column } from '../../ui/table/column';
import { MoreRows } from '../../ui/table/more-rows';
import { TableCard } from '../../ui/table/table-card';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';
import { useSave } from '../forms/use-save';
import { LIMIT_FIELDS, limitColumn } from './level-fields';
import { type Organization, type OrganizationInput, useOrganizations } from './use-teams';

const COLUMNS: readonly Column<Organization>[] = [{ header: 'Organization', value: (row) => row.name }, limitColumn()];
const FIELDS: readonly FieldSpec[] = [{ name: 'name', label: 'Name', kind: 'text', required: true }, ...LIMIT_FIELDS];
const AFFECTS = [['organizations'], ['budgets']];

/** Organizations above the teams, for admins of the gateway. */
export function OrganizationsCard() {
  const organizations = useOrganizations();
  const [isCreating, setIsCreating] = useState(false);
  const [chosen, setChosen] = useState<Organization | null>(null);
  const create = useChange({
    run: (json: OrganizationInput) => read(api.organizations.$post({ json })),
    affects: AFFECTS,
    done: 'Organization created',
  });
  return (
    <TableCard
      title="Organizations"
      actions={
        <Button onClick={() => setIsCreating(true)}>
          <Plus /> New organization
        </Button>
      }
      caption="Organizations"
      query={organizations}
      columns={COLUMNS}
      rows={organizations.data?.rows}
      rowKey={(row) => row.id}
      onRow={setChosen}
    >
      <MoreRows pages={organizations} shown={organizations.data?.rows.length ?? 0} />
      <SpecDialog
        title="New organization"
        open={isCreating}
        onClose={() => setIsCreating(false)}
        specs={FIELDS}
        resource={null}
        submitLabel="Create organization"
        change={create}
        onSubmit={(body) => create.mutate(body as OrganizationInput, { onSuccess: () => setIsCreating(false) })}
      />
      {chosen !== null && <OrganizationDialog of={chosen} onClose={() => setChosen(null)} />}
    </TableCard>
  );
}

function OrganizationDialog({ of: organization, onClose }: DialogOf<Organization>) {
  const param = { id: organization.id };
  const at = api.organizations[':id'];
  const save = useSave({
    read: () => at.$get({ param }),
    write: (json, options) => at.$patch({ param, json }, options),
    affects: AFFECTS,
    done: 'Organization saved',
  });
  return (
    <SpecDialog
      title={organization.name}
      description="Limits hold for everything in its teams."
      onClose={onClose}
      specs={FIELDS}
      resource={organization}
      submitLabel="Save organization"
      change={save}
      onSubmit={(_, edit) => save.mutate(edit, { onSuccess: onClose })}
    />
  );
}
