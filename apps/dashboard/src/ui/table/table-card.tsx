import type { ReactNode } from 'react';
import { Card } from '../card';
import { type Failable, Failure } from '../error-state';
import { DataTable, type TableProps } from './data-table';

interface Props<T> extends TableProps<T> {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  /** Source of the rows. */
  readonly query: Failable;
  /** A sentence between heading and table: what its figures count. */
  readonly note?: string;
  /** Between heading and table. */
  readonly above?: ReactNode;
  /** Below the table. */
  readonly children?: ReactNode;
}

/** A table in its frame, with loading errors above. */
export function TableCard<T extends object>({ title, actions, query, note, above, children, ...table }: Props<T>) {
  return (
    <Card title={title} flush actions={actions}>
      <Failure of={query} />
      {note !== undefined && <p className="border-b px-4 py-2 text-xs text-muted">{note}</p>}
      {above}
      <DataTable {...table} />
      {children}
    </Card>
  );
}
