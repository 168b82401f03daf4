import type { AttackedGateway } from './attack-world';
import type { Readings } from './watch-gateway';

/** What an attack came to. */
export interface Outcome {
  readonly name: string;
  readonly seconds: number;
  readonly statuses: ReadonlyMap<number, number>;
  /** What was answered with 500 first, where a client library sent it. */
  readonly failed: string | undefined;
  readonly readings: Readings;
  /** Resident beyond where the gateway was before any attack. */
  readonly grownBytes: number;
  readonly books: Books;
  /** Under an absolute cap; elsewhere what was lost on the way is booked by a guess, which may be too low. */
  readonly isStrict: boolean;
  /** What was got that should not be had. */
  readonly gained: string | undefined;
  readonly hasEnded: boolean;
  /** Plays beyond the first, because a machine that others share paused. */
  readonly repeats: number;
}

export interface Books {
  readonly bookedNanoUsd: number;
  readonly billedNanoUsd: number;
  /** Σ rows is the counter, and nothing is held any more. */
  readonly isEven: boolean;
}

/** The law. */
export const LAW = { livezMs: 50, grownBytes: 200 * 1024 * 1024, seconds: 40 } as const;
/** So long a bare server may pause before a machine counts as busy. */
const BUSY_MS = 20;

/** One line for each law that was broken; none when all held. */
export function judge(outcome: Outcome): readonly string[] {
  const { readings, books, gained } = outcome;
  const checks: readonly (readonly [boolean, string])[] = [
    [outcome.hasEnded, 'the gateway ended'],
    [readings.ownMs > LAW.livezMs, `/livez took ${Math.round(readings.livezMs)} ms`],
    [readings.failed > 0 && !outcome.hasEnded, `/livez broke ${readings.failed} times`],
    [outcome.grownBytes > LAW.grownBytes, `memory grew by ${toMegabytes(outcome.grownBytes)} MB`],
    [outcome.statuses.has(500), `status 500 ${outcome.statuses.get(500)} times ${outcome.failed ?? ''}`.trim()],
    [outcome.seconds > LAW.seconds, `it took ${Math.round(outcome.seconds)} s`],
    [outcome.isStrict && books.bookedNanoUsd < books.billedNanoUsd, 'the vendor bills more than was booked'],
    [!books.isEven, 'the books are not even'],
    [gained !== undefined, gained ?? ''],
  ];
  return checks.flatMap(([isBroken, text]) => (isBroken ? [text] : []));
}

/** Only time was broken, and others on this machine may be why. */
export function mayBeTheMachine(outcome: Outcome): 'busy' | 'perhaps' | 'no' {
  const { readings } = outcome;
  const isOnlyTime = judge({ ...outcome, readings: { ...readings, ownMs: 0 } }).length === 0;
  if (!isOnlyTime || readings.ownMs <= LAW.livezMs) return 'no';
  return readings.bareMs > BUSY_MS ? 'busy' : 'perhaps';
}

export const toMegabytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);

export const grownBytes = (gateway: Pick<AttackedGateway, 'calmBytes'>, { memoryBytes }: Readings): number =>
  Math.max(0, memoryBytes - gateway.calmBytes);
