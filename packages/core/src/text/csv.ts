/** A number in decimal digits, all of which count. */
export class Digits {
  constructor(readonly text: string) {}
}

/**
 * Text that a spreadsheet runs as a formula, full-width signs included, after ignored characters. Numbers are safe,
 * whatever their sign.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{C}]*[=+\-@\uff1d\uff0b\uff0d\uff20])/u;
/** Semicolons and tabs separate cells for some of them. */
const SEPARATOR = /[",;\t\r\n]/;

/** A cell by RFC 4180, by the type of its value; a text that would be run gets a leading apostrophe. */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Digits) return value.text;
  const text = typeof value === 'string' ? (FORMULA.test(value) ? `'${value}` : value) : JSON.stringify(value);
  return SEPARATOR.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvLine = (cells: readonly unknown[]): string => cells.map(csvCell).join(',');
