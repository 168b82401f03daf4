/** A page of the reference: what it is for, and its tables. */
export interface ReferencePage {
  readonly title: string;
  /** One sentence. */
  readonly purpose: string;
  readonly body: string;
}

/** A Markdown table; a bar within a cell would end it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => escaped(cell.replaceAll(/\s*\n\s*/g, ' '))).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

export const code = (text: string): string => `\`${text}\``;

/** Its first letter large. */
export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Outside of code an angle bracket would begin a tag. */
const escaped = (cell: string): string =>
  cell
    .split('`')
    .map((part, at) => (at % 2 === 0 ? part.replaceAll('<', '&lt;') : part))
    .join('`')
    .replaceAll('|', '\\|');
