import { join } from 'node:path';
import { getTableColumns, getTableName, is, type Table } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import type { ReferencePage } from './table';

const SCHEMA = join(import.meta.dir, '../../../../drizzle/schema');

export async function tablesPage(): Promise<ReferencePage> {
  const tables: Table[] = [];
  for (const file of [...new Bun.Glob('*.ts').scanSync(SCHEMA)].sort()) {
    const module: Record<string, unknown> = await import(join(SCHEMA, file));
    for (const value of Object.values(module)) if (is(value, PgTable)) tables.push(value);
  }
  const parts = [...new Map(tables.map((one) => [getTableName(one), one]))]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, one]) => `### ${name}\n\n${columnsOf(one)}`);
  return {
    title: 'Tables and columns',
    purpose: 'Tables in Postgres that you may read, with their columns and types.',
    body: `${INTRO}\n\n${parts.join('\n\n')}`,
  };
}

const columnsOf = (table: Table): string => {
  const columns = Object.values(getTableColumns(table));
  const lines = wrap(columns.map((column) => `${column.name} ${column.getSQLType()}${column.notNull ? '' : '?'}`));
  return `\`\`\`text
${lines}
\`\`\``;
};

const MOST = 130;

/** As many to a line as fit. */
function wrap(items: readonly string[]): string {
  const lines: string[] = [];
  for (const item of items) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + item.length + 2 <= MOST) lines[lines.length - 1] = `${last}, ${item}`;
    else lines.push(item);
  }
  return lines.join(',\n');
}

const INTRO = `A question mark marks a column that may be null. Money is an exact decimal in USD (\`numeric(20,9)\`), times are UTC.
Partitions of \`gateway_logs\` and \`tool_calls\` are days. Releases only add columns; read by name, not by position. Internal tables, such as
\`idempotency_keys\`, aren't listed.`;
