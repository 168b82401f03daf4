import type { ReactNode } from 'react';
import { Card } from '../card';
import { type Failable, Failure } from '../error-state';
import { DataTable, type TableProps } from './data-table';

interface Props<T> extends TableProps<T> {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  /** Source of the rows. */
  readonly query: Failable;
  /** Between heading and table. */
  readonly above?: ReactNode;
  /** Below the table. */
  readonly children?: ReactNode;
}

/** A table in its frame, with loading errors above. */
export function TableCard<T extends object>({ title, actions, query, above, children, ...table }: Props<T>) {
  return (
    <Card title={title} flush actions={actions}>
      <Failure of={query} />
      {above}
      <DataTable {...table} />
      {children}
    </Card>
  );
}
