import { countOf, formatCount } from '../../format/format-number';
import type { Tone } from '../../ui/badge';
import type { Batch } from './use-batches';

type Counts = Pick<Batch, 'total' | 'completed' | 'failed' | 'expired' | 'cancelled'>;

export const isCancellable = ({ status }: Pick<Batch, 'status'>): boolean =>
  status === 'validating' || status === 'in_progress';

/** Share of the lines that were run, from 0 to 1; null without lines. Lines that were given up stay open. */
export const progressOf = ({ total, completed, failed }: Counts): number | null =>
  total === 0 ? null : (completed + failed) / total;

/** "120 of 500 lines, 3 failed" */
export function describeLines({ total, completed, failed, expired, cancelled }: Counts): string {
  const others = [
    [failed, 'failed'],
    [expired, 'expired'],
    [cancelled, 'cancelled'],
  ] as const;
  const named = others.filter(([count]) => count > 0).map(([count, word]) => `${formatCount(count)} ${word}`);
  return [`${formatCount(completed)} of ${countOf(total, 'line')} completed`, ...named].join(', ');
}

/** Reason of an end that isn't the usual one; null without one. A failed batch names the faults of its input. */
export function reasonOf({ status, failed }: Pick<Batch, 'status' | 'failed'>): string | null {
  const ends: Partial<Record<Batch['status'], string>> = {
    failed: 'The input has faults. No line was run.',
    expired: 'The batch ran out of time. Lines that had not begun by then were not run.',
    cancelled: 'The batch was cancelled. Lines that had not begun by then were not run.',
  };
  return ends[status] ?? (failed > 0 ? 'The error file names the reason of each failed line.' : null);
}

/** "completed, 1 failed": an end with failed lines isn't a good one. */
export const statusOf = ({ status, failed }: Pick<Batch, 'status' | 'failed'>): string =>
  status === 'completed' && failed > 0 ? `completed, ${formatCount(failed)} failed` : status;

export const toneOf = ({ status, failed }: Pick<Batch, 'status' | 'failed'>): Tone =>
  status === 'completed' && failed > 0 ? 'warn' : STATUS_TONES[status];

const STATUS_TONES: Readonly<Record<Batch['status'], Tone>> = {
  ...{ validating: 'neutral', in_progress: 'good', finalizing: 'good', completed: 'good' },
  ...{ failed: 'bad', expired: 'warn', cancelling: 'warn', cancelled: 'neutral' },
};
