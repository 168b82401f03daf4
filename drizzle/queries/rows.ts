import { and, eq, getTableColumns, inArray, isNull, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgInsertValue, PgTable, PgUpdateSetSource } from 'drizzle-orm/pg-core';
import type { Db } from '../client';
import { afterCursor, newestFirst, type Page, type PageRequest, toPage } from './page';

type ListedTable = PgTable & { readonly id: PgColumn; readonly createdAtMs: PgColumn };

/** Values that columns must have; of a list, any. */
type Having<T extends ListedTable> = {
  readonly [Name in keyof T['$inferSelect']]?: T['$inferSelect'][Name] | readonly T['$inferSelect'][Name][];
};

export interface RowOptions<Hidden> {
  /** Columns that stay in the database. */
  readonly hidden?: readonly Hidden[];
  /** Rows that do not meet it are as if they were not there. */
  readonly live?: SQL;
}

/** Queries for tables of editable resources. Returns rows with the columns of the schema. */
export class Rows<T extends ListedTable, Hidden extends keyof T['$inferSelect'] & string = never> {
  readonly columns: Omit<T['_']['columns'], Hidden>;
  private readonly live: SQL | undefined;
  private readonly all: Readonly<Record<string, PgColumn>>;
  private readonly isVersioned: boolean;

  constructor(
    private readonly table: T,
    { hidden = [], live }: RowOptions<Hidden> = {},
  ) {
    this.all = getTableColumns<PgTable>(table);
    const isShown = ([name]: [string, PgColumn]) => !hidden.some((one) => one === name);
    this.columns = Object.fromEntries(Object.entries(this.all).filter(isShown)) as typeof this.columns;
    this.isVersioned = 'version' in this.all;
    this.live = live;
  }

  /** null when there is none. */
  async get(db: Db, at: Having<T>): Promise<RowOf<T, Hidden> | null> {
    const [row] = await this.select(db).where(this.one(at)).limit(1);
    return this.shown(row);
  }

  /** Newest first; undefined fields match everything. */
  async list(db: Db, page: PageRequest, having: Having<T> = {}, more?: SQL): Promise<Page<RowOf<T, Hidden>>> {
    const { createdAtMs, id } = this.table;
    const rows = await this.select(db)
      .where(and(this.where(having), more, afterCursor(page, createdAtMs, id)))
      .orderBy(...newestFirst(createdAtMs, id))
      .limit(page.limit + 1);
    return toPage(rows as unknown as (RowOf<T, Hidden> & { id: string; createdAtMs: number })[], page.limit);
  }

  /** All that meet the condition. */
  async find(db: Db, condition: SQL | undefined, ...order: (SQL | PgColumn)[]): Promise<readonly RowOf<T, Hidden>[]> {
    const rows = await this.select(db)
      .where(and(condition, this.live))
      .orderBy(...order);
    return rows as unknown as RowOf<T, Hidden>[];
  }

  /** The first of them. */
  async first(
    db: Db,
    limit: number,
    condition: SQL | undefined,
    ...order: SQL[]
  ): Promise<readonly RowOf<T, Hidden>[]> {
    const rows = await this.select(db)
      .where(and(condition, this.live))
      .orderBy(...order)
      .limit(limit);
    return rows as unknown as RowOf<T, Hidden>[];
  }

  /** Throws if a constraint forbids the row. */
  async create(db: Db, values: PgInsertValue<T>): Promise<RowOf<T, Hidden>> {
    return this.made(await db.insert(this.table).values(values).returning(this.returned()));
  }

  /** null when there is one already that may be there only once. */
  async createUnlessThere(db: Db, values: PgInsertValue<T>): Promise<RowOf<T, Hidden> | null> {
    const [row] = await db.insert(this.table).values(values).onConflictDoNothing().returning(this.returned());
    return this.shown(row);
  }

  /** Inserts a row, or updates the one with the same `by` values. */
  async put(db: Db, by: readonly (keyof Having<T> & string)[], values: PgInsertValue<T>): Promise<RowOf<T, Hidden>> {
    const target = by.flatMap((name) => this.all[name] ?? []);
    const set = { ...this.touched(), ...values } as PgUpdateSetSource<T>;
    const insert = db.insert(this.table).values(values).onConflictDoUpdate({ target, set });
    return this.made(await insert.returning(this.returned()));
  }

  /** Updates the given fields; null without a row. Where a trigger raises `version`, an unchanged row keeps it. */
  async update(db: Db, at: Having<T>, changes: PgUpdateSetSource<T>): Promise<RowOf<T, Hidden> | null> {
    if (this.isVersioned && Object.values(changes).every((value) => value === undefined)) return this.get(db, at);
    const set = { ...this.touched(), ...changes } as PgUpdateSetSource<T>;
    const [row] = await db.update(this.table).set(set).where(this.one(at)).returning(this.returned());
    return this.shown(row);
  }

  /** The (first) row as it was; null when there was none. */
  async delete(db: Db, at: Having<T>): Promise<RowOf<T, Hidden> | null> {
    const [row] = await db.delete(this.table).where(this.one(at)).returning(this.returned());
    return this.shown(row);
  }

  private select(db: Db) {
    return db.select(this.returned()).from(this.table as PgTable);
  }

  private returned(): Record<string, PgColumn> {
    return this.columns as unknown as Record<string, PgColumn>;
  }

  /** Something undefined here would mean every row. */
  private one(at: Having<T>): SQL | undefined {
    const values = Object.values(at);
    if (values.length === 0 || values.includes(undefined)) throw new Error("the row isn't specified");
    return this.where(at);
  }

  private where(having: Having<T>): SQL | undefined {
    const conditions = Object.entries(having).map(([name, value]) => {
      const column = this.all[name];
      if (column === undefined) throw new Error(`there is no column ${name}`);
      if (value === undefined) return undefined;
      if (Array.isArray(value)) return inArray(column, value);
      return value === null ? isNull(column) : eq(column, value);
    });
    return and(...conditions, this.live);
  }

  /** A trigger raises the version and sets the time. */
  private touched(): object {
    return this.isVersioned || !('updatedAtMs' in this.all) ? {} : { updatedAtMs: sql`now()` };
  }

  private made([row]: readonly unknown[]): RowOf<T, Hidden> {
    if (row === undefined) throw new Error('an insert returned no row');
    return row as RowOf<T, Hidden>;
  }

  private shown(row: unknown): RowOf<T, Hidden> | null {
    return row === undefined ? null : (row as RowOf<T, Hidden>);
  }
}

/** A row without its hidden columns. */
export type RowOf<T extends PgTable, Hidden extends string = never> = Readonly<Omit<T['$inferSelect'], Hidden>>;

/** State of a table of rows. */
export type Stored<R> = R extends Rows<infer T, infer Hidden> ? RowOf<T, Hidden> : never;

/** For rows of one project or (null) of all. */
export const ofLiveProject = (projectId: PgColumn): SQL =>
  sql`(${projectId} is null or exists (select 1 from projects p where p.id = ${projectId} and p.deleted_at is null))`;
