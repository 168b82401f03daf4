import type { CapForecast } from '../../api/finance';

/** Nov 23. */
const dayName = (date: string) =>
  new Date(`${date}T00:00:00Z`).toLocaleDateString('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' });

export interface CapOutlook {
  readonly text: string;
  readonly tone: 'neutral' | 'good' | 'warn' | 'bad';
}

type Outlooked = Pick<CapForecast, 'cap_usd' | 'spent_usd' | 'forecast' | 'reached_on' | 'could_reach_on'>;

/** Forecast of a cap at the end of its month. */
export function outlookOf(cap: Outlooked, isFinal: boolean): CapOutlook {
  const { spent_usd: spent, cap_usd: limit, reached_on: reached, could_reach_on: could } = cap;
  if (spent >= limit) return { text: reached === null ? 'Used up' : `Used up on ${dayName(reached)}`, tone: 'bad' };
  if (isFinal) return { text: 'Not reached', tone: 'good' };
  if (reached !== null) return { text: `Expected to run out on ${dayName(reached)}`, tone: 'bad' };
  if (could !== null) return { text: `Expected to last, but could run out on ${dayName(could)}`, tone: 'warn' };
  if (cap.forecast === null) return { text: 'No forecast yet', tone: 'neutral' };
  return { text: 'Expected to last', tone: 'good' };
}
