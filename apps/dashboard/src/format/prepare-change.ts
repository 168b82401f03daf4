import { GAMMA } from '@llm0/core/logs/histogram';
import { changeOf, formatChange, formatPoints, pointsOf } from './format-number';

/** A number and that of the period before. */
export interface Compared {
  readonly now: number | null;
  readonly before: number | null;
  /** Direction of improvement; absent if neutral. */
  readonly better?: 'more' | 'less';
  /** A share (0…1), which changes by percentage points. */
  readonly isShare?: true;
  /** A percentile: known to 2 %. */
  readonly isBinned?: true;
}

interface Change {
  readonly text: string;
  readonly tone: 'muted' | 'good' | 'bad';
  readonly title: string;
}

/** The next bin of a histogram, and a bit for rounding: what is between two of them is not known. */
const STEP = Math.log(GAMMA) * 1.01;
const SMALL = 0.0005;

/** A number's change against the previous period; null without one. */
export function prepareChange({ now, before, better, isShare, isBinned }: Compared): Change | null {
  const [changed, format] = isShare === true ? [pointsOf, formatPoints] : [changeOf, formatChange];
  const change = changed(now, before);
  if (change === null) return null;
  const title = 'Against the previous period';
  if (isBinned === true && Math.abs(Math.log(1 + change)) <= STEP) {
    return {
      text: '≈ 0 %',
      tone: 'muted',
      title: `${title}. Percentiles are known to 2 %: changes of less than 4 % don't show.`,
    };
  }
  const isGood = change > 0 === (better === 'more');
  const tone = better === undefined || Math.abs(change) < SMALL ? 'muted' : isGood ? 'good' : 'bad';
  return { text: format(change), tone, title };
}

export const AGAINST = 'Changes compare with the same length of time before.';
const NO_CHANGES = 'No changes: the log has no whole period before this one.';

/** What changes are against; null until it is known whether there are any. */
export function describeChanges(stats: readonly Pick<Compared, 'before'>[], isComparing: boolean): string | null {
  if (stats.some(({ before }) => before !== null)) return AGAINST;
  return isComparing ? null : NO_CHANGES;
}
