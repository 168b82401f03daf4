import { formatUsdShort } from '@llm0/core/pricing/format-usd';
import { withoutEnd } from '@llm0/core/text/without-end';

/** The parts of `JSON` that TypeScript's library does not know yet (TC39: JSON.parse source text access). */
interface ExactJson {
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
}

const exactJson = JSON as unknown as ExactJson;

/**
 * Integer nano-USD → exact decimal JSON (`0.000000001`, never `1e-9`). Its type is the reader's number; here it
 * supports writing only, not arithmetic.
 */
export function jsonUsd(nanoUsd: number): number {
  return exactJson.rawJSON(formatUsdShort(nanoUsd)) as number;
}

/** Integer pico-USD → exact decimal JSON, as `jsonUsd`. */
export function jsonPicoUsd(pico: number): number {
  const digits = String(pico).padStart(13, '0');
  return exactJson.rawJSON(plainDecimal(`${digits}e-12`)) as number;
}

/** True for an exact number from `rawJSON`, which only writing supports. */
export const isRawJson = (value: unknown): boolean => exactJson.isRawJSON(value);

export function jsonUsdOrNull(nanoUsd: number | null): number | null {
  return nanoUsd === null ? null : jsonUsd(nanoUsd);
}

/** Names of amounts in USD. */
export const MONEY = /_usd(?:_per_million)?$/;

/** Parses JSON and keeps amounts of money as their original text, never as floats. */
export function parseMoneyAsText(text: string): unknown {
  return exactJson.parse(text, (key, value, { source }) =>
    typeof value === 'number' && source !== undefined && MONEY.test(key) ? plainDecimal(source) : value,
  );
}

/** Parses JSON that was stored, keeping amounts of money exact for `JSON.stringify`. */
export function parseStored(text: string): unknown {
  return exactJson.parse(text, (key, value, { source }) =>
    typeof value === 'number' && source !== undefined && MONEY.test(key) ? exactJson.rawJSON(source) : value,
  );
}

const MAX_EXPONENT = 30;

/** `1.5e-7` → `0.00000015`; other texts stay as they are. */
export function plainDecimal(text: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/.exec(text);
  if (match === null) return text;
  const [, sign, whole = '', fraction = '', exponentText] = match;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > MAX_EXPONENT) return text;
  const digits = `${'0'.repeat(MAX_EXPONENT)}${whole}${fraction}${'0'.repeat(MAX_EXPONENT)}`;
  const point = MAX_EXPONENT + whole.length + exponent;
  const left = digits.slice(0, point).replace(/^0+(?=\d)/, '');
  const right = withoutEnd(digits.slice(point), /0/);
  return `${sign}${left}${right === '' ? '' : `.${right}`}`;
}
