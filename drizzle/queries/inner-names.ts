import { nanoFromUsd } from '../money';

/** Inner name of a column or API field: `cap_usd` → `capNanoUsd`, `created_at` → `createdAtMs`, else camel case. */
export function innerName(name: string): string {
  const inner = name.replace(/_usd$/, '_nano_usd').replace(/_at$/, '_at_ms');
  return inner.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The API's name of an inner one. */
export const outerName = (name: string): string =>
  name
    .replace(/NanoUsd$/, 'Usd')
    .replace(/AtMs$/, 'At')
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Renames a row's columns to inner names; `…_usd` (numeric) becomes integer nano-USD. Counts need `::float8`, because
 * `bigint` and `numeric` arrive as text.
 */
export function innerRow<T extends object>(row: Readonly<Record<string, unknown>>): T {
  const entries = Object.entries(row).map(([name, value]) => {
    const isMoney = name.endsWith('_usd') && typeof value === 'string';
    return [innerName(name), isMoney ? nanoFromUsd(value) : value];
  });
  return Object.fromEntries(entries) as T;
}
