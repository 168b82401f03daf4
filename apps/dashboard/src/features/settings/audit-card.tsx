import { useMemo, useState } from 'react';
import { type AuditEntry, useAudit } from '../../api/settings';
import { formatStamp } from '../../format/format-time';
import { usePage } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { Card } from '../../ui/card';
import { CodeBlock } from '../../ui/copy-button';
import { type Column, DataTable } from '../../ui/data-table';
import { Dialog } from '../../ui/dialog';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { Select } from '../../ui/field';

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
];

/** Every change, who made it, and what it was before and after. */
export function AuditCard() {
  const [resource, setResource] = useState('');
  const audit = useAudit(resource);
  const { timeZone } = usePage();
  const [open, setOpen] = useState<AuditEntry | null>(null);
  const columns = useMemo<Column<AuditEntry>[]>(
    () => [
      {
        id: 'time',
        header: 'Time',
        value: (row) => row.created_at,
        cell: (row) => <span className="nums">{formatStamp(row.created_at, timeZone)}</span>,
      },
      { id: 'actor', header: 'Who', value: (row) => row.actor },
      {
        id: 'action',
        header: 'Did',
        value: (row) => row.action,
        cell: (row) => <Badge>{row.action.replace('_', ' ')}</Badge>,
      },
      { id: 'resource', header: 'To', value: (row) => row.resource.replace('_', ' ') },
      {
        id: 'id',
        header: 'Which',
        wideOnly: true,
        value: (row) => row.resource_id,
        cell: (row) => <code className="font-mono text-xs">{row.resource_id}</code>,
      },
    ],
    [timeZone],
  );
  return (
    <Card
      title="Audit"
      flush
      actions={
        <Select
          aria-label="Of what"
          className="w-40"
          value={resource}
          onChange={(event) => setResource(event.target.value)}
        >
          <option value="">everything</option>
          {RESOURCES.map((name) => (
            <option key={name} value={name}>
              {name.replace('_', ' ')}
            </option>
          ))}
        </Select>
      }
    >
      {audit.error && <ErrorState error={audit.error} onRetry={() => void audit.refetch()} />}
      <DataTable
        caption="Changes, newest first"
        columns={columns}
        rows={audit.data?.data}
        rowKey={(row) => row.id}
        csvName="audit"
        onRow={setOpen}
        empty={<EmptyState title="No changes yet" />}
      />
      {open !== null && (
        <Dialog
          kind="drawer"
          title={`${open.action.replace('_', ' ')} ${open.resource.replace('_', ' ')}`}
          description={`By ${open.actor}`}
          open
          onClose={() => setOpen(null)}
        >
          <div className="grid gap-3">
            {open.before !== null && <CodeBlock label="Before" code={JSON.stringify(open.before, null, 2)} />}
            {open.after !== null && <CodeBlock label="After" code={JSON.stringify(open.after, null, 2)} />}
            {open.before === null && open.after === null && <p className="text-muted">Nothing more is kept of it.</p>}
          </div>
        </Dialog>
      )}
    </Card>
  );
}
