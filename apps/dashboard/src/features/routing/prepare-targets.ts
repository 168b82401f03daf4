import type { Alias } from '../../api/routing';
import { rank } from '../../ui/combobox/rank';

/** A target of the form; `share` is the typed percentage for weighted targets. */
export interface TargetRow {
  readonly provider: string;
  readonly model: string;
  readonly share: string;
}

export interface WeightedTarget {
  readonly provider: string;
  readonly model: string;
  readonly weight?: number;
}

interface TargetTimeouts {
  readonly request_timeout_ms?: number | null;
  readonly answer_timeout_ms?: number | null;
}

const SHARE_START = ' ×';
const SHARE_END = ' %';

/** In a form rows are text, one a line: `provider/model ×75 %`. */
export const showRows = (rows: readonly TargetRow[]): string =>
  rows.map(({ provider, model, share }) => `${provider}/${model}${share === '' ? '' : ` ×${share} %`}`).join('\n');

export function parseRows(text: string): TargetRow[] {
  if (text === '') return [];
  return text.split('\n').map((line) => {
    const end = line.endsWith(SHARE_END) ? line.lastIndexOf(SHARE_START) : -1;
    const path = end < 0 ? line : line.slice(0, end);
    const share = end < 0 ? '' : line.slice(end + SHARE_START.length, -SHARE_END.length);
    const cut = path.indexOf('/');
    return { provider: cut < 0 ? path : path.slice(0, cut), model: cut < 0 ? '' : path.slice(cut + 1), share };
  });
}

/** Hundredths of a percent. */
const WHOLE = 10_000;

/** Weights → percentages with at most two decimals, which add up to 100. */
export function toShares(weights: readonly number[]): string[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (sum === 0) return weights.map(() => '0');
  const exact = weights.map((weight) => (weight * WHOLE) / sum);
  const parts = exact.map(Math.floor);
  // The largest remainders take the rounding difference.
  const order = exact.map((_, index) => index).sort((a, b) => ((exact[b] ?? 0) % 1) - ((exact[a] ?? 0) % 1));
  const left = WHOLE - parts.reduce((total, part) => total + part, 0);
  for (const index of order.slice(0, left)) parts[index] = (parts[index] ?? 0) + 1;
  return parts.map((part) => String(part / 100));
}

export const showWeighted = (targets: readonly WeightedTarget[]): string => {
  const shares = targets.every(({ weight }) => weight === undefined)
    ? targets.map(() => '')
    : toShares(targets.map(({ weight = 1 }) => weight));
  return showRows(targets.map(({ provider, model }, index) => ({ provider, model, share: shares[index] ?? '' })));
};

/** Hundredths of a percent of a typed share; null if it is none. */
export const readShare = (text: string): number | null => {
  const given = /^(\d{1,3}(?:\.\d{1,2})?)\s*%?$/.exec(text.trim())?.[1];
  return given === undefined || Number(given) > 100 ? null : Math.round(Number(given) * 100);
};

/** Rows have no time-outs: a remaining target keeps its own. */
export const keepTimeouts = (
  rows: readonly WeightedTarget[],
  before: readonly (WeightedTarget & TargetTimeouts)[],
): (WeightedTarget & TargetTimeouts)[] =>
  rows.map((row) => {
    const known = before.find(({ provider, model }) => provider === row.provider && model === row.model);
    const { request_timeout_ms: request, answer_timeout_ms: answer } = known ?? {};
    return {
      ...row,
      ...(request == null ? {} : { request_timeout_ms: request }),
      ...(answer == null ? {} : { answer_timeout_ms: answer }),
    };
  });

/** Sum of the percentages; null if one is invalid. */
export function sumOfShares(rows: readonly TargetRow[]): number | null {
  let sum = 0;
  for (const { share } of rows) {
    const part = readShare(share);
    if (part === null) return null;
    sum += part;
  }
  return sum / 100;
}

/** Rows → the API's targets. Throws the error with the row's position. */
export function readRows(text: string, providers: readonly string[], isWeighted: boolean): WeightedTarget[] {
  const rows = parseRows(text).filter(({ provider, model }) => provider.trim() !== '' || model.trim() !== '');
  if (rows.length === 0) throw new Error('needs at least one target');
  const places = new Set<string>();
  const targets = rows.map(({ provider: given, model: name }, index) => {
    const [provider, model] = [given.trim(), name.trim()];
    const row = `Row ${index + 1}`;
    if (provider === '') throw new Error(`${row}: choose a provider`);
    if (model === '') throw new Error(`${row}: choose a model`);
    if (providers.length > 0 && !providers.includes(provider))
      throw new Error(`${row}: ${unknownProvider(provider, providers)}`);
    const place = `${provider}/${model}`;
    if (places.has(place)) throw new Error(`${row}: ${place} is already in the list`);
    places.add(place);
    return { provider, model };
  });
  return isWeighted ? withWeights(targets, rows) : targets;
}

function unknownProvider(unknown: string, providers: readonly string[]): string {
  const [near = providers.find((name) => unknown.startsWith(name))] = rank(providers, unknown, (name) => name);
  return `there is no provider "${unknown}".${near === undefined ? '' : ` Did you mean "${near}"?`}`;
}

function withWeights(targets: readonly WeightedTarget[], rows: readonly TargetRow[]): WeightedTarget[] {
  const parts = rows.map(({ share }, index) => {
    const part = readShare(share);
    if (part === null) throw new Error(`Row ${index + 1}: enter a share from 0 to 100 %`);
    return part;
  });
  const sum = parts.reduce((total, part) => total + part, 0);
  // Thirds do not add up to the last hundredth.
  if (Math.abs(sum - WHOLE) > parts.length) throw new Error(`The shares add up to ${sum / 100} %, not to 100 %`);
  const divisor = parts.reduce(greatestCommon, 0) || 1;
  return targets.map((target, index) => ({ ...target, weight: (parts[index] ?? 0) / divisor }));
}

const greatestCommon = (a: number, b: number): number => (b === 0 ? a : greatestCommon(b, a % b));

/** Scales shares to 100 %; equal shares if they sum to nothing. */
export function balanced(rows: readonly TargetRow[]): TargetRow[] {
  const given = rows.map(({ share }) => readShare(share) ?? 0);
  const shares = toShares(given.some((part) => part > 0) ? given : given.map(() => 1));
  return rows.map((row, index) => ({ ...row, share: shares[index] ?? '' }));
}

export const evenly = (rows: readonly TargetRow[]): TargetRow[] => balanced(rows.map((row) => ({ ...row, share: '' })));

/** Moves a row one place up or down; unchanged at the ends. */
export function moved<T>(rows: readonly T[], index: number, by: 1 | -1): T[] {
  const [row, other] = [rows[index], rows[index + by]];
  if (row === undefined || other === undefined) return [...rows];
  return rows.with(index, other).with(index + by, row);
}

/** Meaning of a row's position and share. */
export function describeRow(rows: readonly TargetRow[], index: number, strategy: Alias['strategy'] | 'chain'): string {
  const share = readShare(rows[index]?.share ?? '');
  if (strategy === 'weighted') {
    if (share === null) return 'Enter a share.';
    if (share === 0) return 'Tried only when the others fail.';
    return `Tried first for ${share / 100} % of requests.`;
  }
  if (strategy === 'least_latency') return 'Tried first while it is the fastest.';
  if (strategy === 'cheapest') return 'Tried first where it is the cheapest.';
  if (index === 0) return 'Tried first.';
  const above = index === 1 ? 'the one above fails' : `the ${index} above fail`;
  return `${strategy === 'chain' ? 'Used as a fallback' : 'Tried'} when ${above}.`;
}
