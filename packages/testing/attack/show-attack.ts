import { judge, type Outcome, toMegabytes } from './judge';

const NAME_WIDTH = 52;

/** One line: name, verdict, statuses, the worst /livez beside a bare server's, memory, money. */
export function showOutcome(outcome: Outcome): string {
  const { readings, books } = outcome;
  const breaches = judge(outcome);
  const statuses = [...outcome.statuses].map(([status, count]) => `${status === 0 ? 'left' : status}×${count}`);
  const parts = [
    `${outcome.name.padEnd(NAME_WIDTH)} ${breaches.length === 0 ? 'held  ' : 'BROKEN'}`,
    `/livez ${readings.livezMs.toFixed(0).padStart(4)} ms (own ${readings.ownMs.toFixed(0).padStart(3)}, bare ${readings.bareMs.toFixed(0).padStart(3)})`,
    `+${toMegabytes(outcome.grownBytes)} MB`,
    `booked ${showUsd(books.bookedNanoUsd)} of ${showUsd(books.billedNanoUsd)}`,
    statuses.join(' ') || 'no answer',
    `${outcome.seconds.toFixed(1)} s`,
    ...(outcome.repeats > 0 ? [`play ${outcome.repeats + 1}`] : []),
  ];
  return [parts.join('  '), ...breaches.map((text) => `    ${text}`)].join('\n');
}

const showUsd = (nanoUsd: number) => `$${(nanoUsd / 1e9).toFixed(6)}`;

/** The end of a run. */
export function showSum(outcomes: readonly Outcome[]): string {
  const broken = outcomes.filter((outcome) => judge(outcome).length > 0);
  const worstMs = Math.max(0, ...outcomes.map(({ readings }) => readings.livezMs));
  const slipped = outcomes.reduce((sum, { books, isStrict }) => {
    return isStrict ? sum + Math.max(0, books.billedNanoUsd - books.bookedNanoUsd) : sum;
  }, 0);
  const held = `${outcomes.length - broken.length} of ${outcomes.length} held`;
  const sum = `${held}, worst /livez ${worstMs.toFixed(0)} ms, ${showUsd(slipped)} slipped by`;
  return [sum, ...broken.map(({ name }) => `broken: ${name}`)].join('\n');
}
