import { csvLine } from '@llm0/core/text/csv';

type Cell = string | number | boolean | null | undefined;

/** Rows, the first of them the headings, as a file. */
export const toCsv = (rows: readonly (readonly Cell[])[]): string => rows.map(csvLine).join('\r\n');
