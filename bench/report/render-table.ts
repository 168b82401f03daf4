/** A Markdown table; columns named in `left` are text, all others numbers. */
export function renderTable(
  head: readonly string[],
  lines: readonly (readonly string[])[],
  left: readonly string[],
): string {
  const escapePipes = (cell: string) => cell.replaceAll('|', '\\|');
  const row = (cells: readonly string[]) => `| ${cells.map(escapePipes).join(' | ')} |`;
  const rule = `|${head.map((name) => (left.includes(name) ? '---' : '---:')).join('|')}|`;
  return [row(head), rule, ...lines.map(row)].join('\n');
}

/** NaN = nothing was measured. */
export const show = (value: number, digits = 2): string => (Number.isNaN(value) ? '–' : value.toFixed(digits));
