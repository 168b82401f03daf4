import type { AuditResource } from '@llm0/core/access/audit-names';
import type { Db } from '@llm0/drizzle/client';
import type { Actor } from '../admin-services';
import { required } from '../fields/find-or-refuse';
import { recordChange } from './record-change';

export interface AuditedKind<Row, Shown> {
  /** Name in the audit. */
  readonly resource: AuditResource;
  /** Name in `not_found`; default: the resource. */
  readonly what?: string;
  readonly idOf: (row: Row) => string;
  /** Row as the API shows it, without secrets. */
  readonly show: (row: Row) => Shown;
  /** Applies a committed change: the current row, or the last one of a deleted one. */
  readonly goLive?: (row: Row, action: Action) => Promise<void>;
}

type Action = 'create' | 'update' | 'delete' | 'rotate' | 'approve' | 'refuse';
/** null if missing. */
type Look<Row> = (tx: Db) => Promise<Row | null>;

interface Done<Row> {
  readonly action: Action;
  readonly row: Row;
  readonly before?: Row | null;
}

/** Changes of one kind of thing: audited in the same transaction, then brought into force, and returned. */
export class AuditedChanges<Row, Shown> {
  constructor(
    private readonly db: Db,
    private readonly kind: AuditedKind<Row, Shown>,
  ) {}

  create(actor: Actor, make: (tx: Db) => Promise<Row>): Promise<Row> {
    return this.run(actor, async (tx) => ({ action: 'create', row: await make(tx) }));
  }

  /** Throws `not_found` if the row doesn't exist. */
  update(actor: Actor, find: Look<Row>, write: Look<Row>, action: Action = 'update'): Promise<Row> {
    return this.run(actor, async (tx) => {
      const before = this.required(await find(tx));
      return { action, before, row: this.required(await write(tx)) };
    });
  }

  /** Creates the row if it doesn't exist. */
  put(actor: Actor, find: Look<Row>, write: (tx: Db, before: Row | null) => Promise<Row>): Promise<Row> {
    return this.run(actor, async (tx) => {
      const before = await find(tx);
      return { action: before === null ? 'create' : 'update', before, row: await write(tx, before) };
    });
  }

  /** Throws `not_found` if `take` returns nothing; `find` if the row changed since. */
  remove(actor: Actor, take: Look<Row>, find?: Look<Row>): Promise<Row> {
    return this.run(actor, async (tx) => {
      const before = find && this.required(await find(tx));
      const row = this.required(await take(tx));
      return { action: 'delete', before: before ?? row, row };
    });
  }

  private async run(actor: Actor, change: (tx: Db) => Promise<Done<Row>>): Promise<Row> {
    const { resource, idOf, show, goLive } = this.kind;
    const { row, action } = await recordChange(this.db, actor, async (tx) => {
      const result = await change(tx);
      const { action, row, before } = result;
      const shown = { before: before && show(before), after: action === 'delete' ? undefined : show(row) };
      return { result, action, resource, resourceId: idOf(row), ...shown };
    });
    await goLive?.(row, action);
    return row;
  }

  private required(row: Row | null): Row {
    return required(row, this.kind.what ?? this.kind.resource);
  }
}
