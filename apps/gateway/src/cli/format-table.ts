import type { JsonObject, JsonValue } from '@llm0/core/chat/json';

export interface Column {
  readonly title: string;
  readonly value: (row: JsonObject) => JsonValue | undefined;
  /** Numbers and money. */
  readonly alignRight?: boolean;
}

/** A column that shows the field of that name. */
export function column(field: string, options: { title?: string; alignRight?: boolean } = {}): Column {
  return { title: options.title ?? field, value: (row) => row[field], alignRight: options.alignRight };
}

export const amount = (field: string, title?: string): Column => column(field, { title, alignRight: true });

const GAP = '  ';

/** Lines of a table with a head; columns as wide as their widest cell. */
export function formatTable(rows: readonly JsonObject[], columns: readonly Column[]): string {
  const cells = [
    columns.map((one) => one.title),
    ...rows.map((row) => columns.map((one) => formatCell(one.value(row)))),
  ];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => Bun.stringWidth(line[index] ?? ''))));
  const pad = (cell: string, index: number) => {
    const blanks = ' '.repeat((widths[index] ?? 0) - Bun.stringWidth(cell));
    return columns[index]?.alignRight ? blanks + cell : cell + blanks;
  };
  return cells.map((line) => line.map(pad).join(GAP).trimEnd()).join('\n');
}

/** `name  value` lines of one thing; nested objects by dotted names. */
export function formatItem(item: JsonObject): string {
  const lines = flatten(item, '');
  const width = Math.max(0, ...lines.map(([name]) => name.length));
  return lines.map(([name, value]) => `${name.padEnd(width)}${GAP}${value}`.trimEnd()).join('\n');
}

function flatten(item: JsonObject, prefix: string): [name: string, value: string][] {
  return Object.entries(item).flatMap(([name, value]) => {
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (isNested && Object.keys(value).length > 0) return flatten(value, `${prefix}${name}.`);
    return [[`${prefix}${name}`, formatCell(value)] as [string, string]];
  });
}

/** A missing value is a dash; removes control characters for the terminal. */
export function formatCell(value: JsonValue | undefined): string {
  if (value === undefined || value === null || value === '') return '–';
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(formatCell).join(', ');
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}
