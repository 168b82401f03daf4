import { formatStamp } from '../format/format-time';
import type { Page } from './use-page';

/** "Last 7 days", or the two ends of a custom range. */
export function nameRange({ range, timeZone }: Pick<Page, 'range' | 'timeZone'>): string {
  if (range.label !== 'custom') return `Last ${range.label}`;
  const hasSeconds = (range.toMs - range.fromMs) % 60_000 !== 0;
  const short = (ms: number) => formatStamp(ms, timeZone).slice(5, hasSeconds ? 19 : 16);
  return `${short(range.fromMs)} – ${short(range.toMs)}`;
}
