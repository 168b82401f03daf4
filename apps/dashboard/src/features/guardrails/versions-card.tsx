import { useState } from 'react';
import { useChange } from '../../api/change';
import { type PolicyVersion, policyKey, rollBack, usePolicyVersions } from '../../api/guardrails';
import { usePage } from '../../range/use-page';
import { Button } from '../../ui/button';
import { type Column, timeColumn } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ConfirmButton } from '../forms/confirm-button';
import { MODES } from './prepare-guardrails';

interface Props {
  readonly projectId: string;
  readonly current: number | undefined;
}

/** Number of versions before the user asks for more. */
const FOLDED = 5;

/** Every save is a version; each can be brought back. */
export function VersionsCard({ projectId, current }: Props) {
  const versions = usePolicyVersions(projectId);
  const { timeZone } = usePage();
  const [isOpen, setOpen] = useState(false);
  const all = versions.data?.rows;
  const rows = isOpen ? all : all?.slice(0, FOLDED);
  const isFolded = all !== undefined && rows !== undefined && rows.length < all.length;
  const columns: readonly Column<PolicyVersion>[] = [
    { header: 'Version', value: (row) => row.version },
    timeColumn(timeZone),
    { header: 'Saved by', narrow: true, wideOnly: true, value: (row) => row.created_by },
    { header: 'Mode', wideOnly: true, value: (row) => MODES[row.mode] },
    { header: 'Rules', unit: 'count', wideOnly: true, value: (row) => row.rules.length },
    {
      header: 'Back',
      value: () => null,
      cell: (row) =>
        row.version === current ? <span className="text-muted">in force</span> : <BringBack {...{ projectId, row }} />,
    },
  ];
  return (
    <TableCard
      title="Versions"
      caption="Versions of the policy"
      query={versions}
      columns={columns}
      rows={rows}
      rowKey={(row) => String(row.version)}
      emptyTitle="Nothing was saved yet"
      isCut={isFolded || versions.hasNextPage}
    >
      {(isFolded || versions.hasNextPage) && (
        <div className="flex justify-center border-t p-2">
          <Button
            isBusy={versions.isFetchingNextPage}
            onClick={() => (isFolded ? setOpen(true) : void versions.fetchNextPage())}
          >
            {isFolded ? 'Show older versions' : 'Show more'}
          </Button>
        </div>
      )}
    </TableCard>
  );
}

function BringBack({ projectId, row }: { readonly projectId: string; readonly row: PolicyVersion }) {
  const back = useChange({
    run: () => rollBack(projectId, row.version),
    affects: [policyKey(projectId)],
    done: ({ version }) => `Version ${row.version} is back, as version ${version}`,
  });
  return (
    <ConfirmButton
      kind="ghost"
      size="small"
      title={`Bring version ${row.version} back?`}
      impact={`Its ${row.rules.length} rules, in mode ${MODES[row.mode].toLowerCase()}, apply from the next request on, as a new version.`}
      confirmLabel="Bring it back"
      change={back}
      onConfirm={(close) => back.mutate(undefined, { onSuccess: close })}
    >
      Bring back
    </ConfirmButton>
  );
}
