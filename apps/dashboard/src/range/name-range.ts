import { formatStamp } from '../format/format-time';
import type { Page } from './use-page';

/** "Last 7 days", or the two ends of a custom range, with their years unless it is this one. */
export function nameRange({ range, timeZone }: Pick<Page, 'range' | 'timeZone'>, nowMs = Date.now()): string {
  if (range.label !== 'custom') return `Last ${range.label}`;
  const end = (range.toMs - range.fromMs) % 60_000 === 0 ? 16 : 19;
  const year = formatStamp(nowMs, timeZone).slice(0, 5);
  const ends = [range.fromMs, range.toMs].map((ms) => formatStamp(ms, timeZone).slice(0, end));
  const isThisYear = ends.every((one) => one.startsWith(year));
  return ends.map((one) => (isThisYear ? one.slice(year.length) : one)).join(' – ');
}
