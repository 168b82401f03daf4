import { useState } from 'react';
import { type AuditEntry, useAudit } from '../../api/settings';
import { useOpened } from '../../range/use-opened';
import { usePage } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { CodeBlock } from '../../ui/copy-button';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { Select } from '../../ui/form';
import { Mono } from '../../ui/mono';
import { type Column, timeColumn } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';

const RESOURCES = [
  'project',
  'key',
  'customer_limits',
  'model',
  'provider',
  'alias',
  'chain',
  'token',
  'session',
  'alert',
  'cache',
  'playground',
].map((name) => [name, spaced(name)] as const);

/** Every change with its actor, before and after. */
export function AuditCard() {
  const [resource, setResource] = useState('');
  const audit = useAudit(resource);
  const opened = useOpened();
  const open = audit.data?.data.find(({ id }) => id === opened.id);
  return (
    <TableCard
      title="Audit"
      actions={
        <Select
          aria-label="Resource"
          className="w-40"
          anyLabel="everything"
          options={RESOURCES}
          value={resource}
          onValue={setResource}
        />
      }
      caption="Changes, newest first"
      query={audit}
      columns={[timeColumn(usePage().timeZone), ...COLUMNS]}
      rows={audit.data?.data}
      rowKey={(row) => row.id}
      csvName="audit"
      linkOf={(row) => opened.linkTo(row.id)}
      emptyTitle="No changes yet"
    >
      {open !== undefined && <EntryDrawer of={open} onClose={opened.close} />}
    </TableCard>
  );
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  { header: 'Actor', value: (row) => row.actor },
  { header: 'Action', value: (row) => row.action, cell: (row) => <Badge>{spaced(row.action)}</Badge> },
  { header: 'Resource', value: (row) => spaced(row.resource) },
  {
    header: 'Resource ID',
    wideOnly: true,
    value: (row) => row.resource_id,
    cell: (row) => <Mono>{row.resource_id}</Mono>,
  },
];

function EntryDrawer({ of: entry, onClose }: DialogOf<AuditEntry>) {
  const { action, resource, actor, before, after } = entry;
  const title = `${spaced(action)} ${spaced(resource)}`;
  return (
    <Dialog kind="drawer" title={title} description={`By ${actor}`} onClose={onClose}>
      <div className="grid gap-3">
        {before !== null && <CodeBlock label="Before" code={JSON.stringify(before, null, 2)} />}
        {after !== null && <CodeBlock label="After" code={JSON.stringify(after, null, 2)} />}
        {before === null && after === null && <p className="text-muted">No further details were recorded.</p>}
      </div>
    </Dialog>
  );
}

function spaced(name: string): string {
  return name.replace('_', ' ');
}
