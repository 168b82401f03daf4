/** Missing value: never a zero. */
export const NOTHING = '–';

/** 12,345 — exact. */
export const formatCount = (value: number): string => value.toLocaleString('en-US');

/** `1 request`, `12,345 requests`. */
export const countOf = (count: number, noun: string, many = `${noun}s`): string =>
  `${formatCount(count)} ${count === 1 ? noun : many}`;

/** 12.3K — for cards and axes. */
export const formatCompact = (value: number): string =>
  new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 }).format(value);

/** A share (0…1) in per cent; null is nothing. */
export function formatShare(share: number | null, digits = 1): string {
  return share === null || !Number.isFinite(share) ? NOTHING : `${(share * 100).toFixed(digits)} %`;
}

/** Milliseconds in the unit that suits; null is nothing. */
export function formatMs(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NOTHING;
  if (ms < 10) return `${ms.toFixed(2)} ms`;
  if (ms < 100) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  return ms < 120_000 ? `${(ms / 1000).toFixed(2)} s` : `${(ms / 60_000).toFixed(1)} min`;
}

/** `≈ 12 s`: a percentile, which the gateway knows to 2 % (`histogramQuantile`). Null is nothing. */
export function formatEstimate(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NOTHING;
  const [unit, size] = ms < 995 ? ['ms', 1] : ms < 119_500 ? ['s', 1000] : ['min', 60_000];
  const value = Number((ms / size).toPrecision(2));
  return `≈ ${value < 9.95 ? value.toFixed(value < 0.995 ? 2 : 1) : value} ${unit}`;
}

/** For axes: one readable unit per chart, without useless decimals. */
export function formatMsShort(ms: number): string {
  if (ms === 0) return '0';
  const trim = (value: number) => Number(value.toPrecision(3)).toString();
  return ms >= 1000 ? `${trim(ms / 1000)} s` : `${trim(ms)} ms`;
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)));
  const value = bytes / 1024 ** step;
  return `${step === 0 ? value : value.toFixed(value < 10 ? 2 : 1)} ${units[step]}`;
}

/** Change against the previous value; null without one. */
export function changeOf(now: number | null, before: number | null): number | null {
  if (now === null || before === null || before === 0) return null;
  return now / before - 1;
}

export function formatChange(change: number): string {
  const percent = change * 100;
  const digits = Math.abs(percent) < 10 ? 1 : 0;
  if (Math.abs(percent) < 0.05) return '0 %';
  // From a tenfold change on, shows the factor instead of a percentage.
  if (change >= 9) return `${change < 1e6 ? formatCompact(change + 1) : 'over 1M'}×`;
  return `${percent > 0 ? '+' : '−'}${Math.abs(percent).toFixed(digits)} %`;
}

/** Difference of two shares in percentage points; null without a comparison. */
export function pointsOf(now: number | null, before: number | null): number | null {
  return now === null || before === null ? null : now - before;
}

export function formatPoints(points: number): string {
  const percent = points * 100;
  if (Math.abs(percent) < 0.05) return '0 pts';
  return `${percent > 0 ? '+' : '−'}${Math.abs(percent).toFixed(Math.abs(percent) < 10 ? 1 : 0)} pts`;
}
