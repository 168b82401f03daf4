import type { TurnClock } from './turn-queue';

interface Timer {
  readonly atMs: number;
  readonly call: () => void;
}

/** Enough for all that follows from one event. */
const TICKS = 50;

async function settle(): Promise<void> {
  for (let i = 0; i < TICKS; i++) await Promise.resolve();
}

/** A clock that runs when it is told to. */
export function createTurnClock() {
  let nowMs = 0;
  const timers = new Set<Timer>();
  const clock: TurnClock = {
    monotonicMs: () => nowMs,
    after: (ms, call) => {
      const timer = { atMs: nowMs + ms, call };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  };
  const nextUntil = (endMs: number) =>
    [...timers].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
  const advance = async (ms: number): Promise<void> => {
    const endMs = nowMs + ms;
    await settle();
    for (let timer = nextUntil(endMs); timer !== undefined; timer = nextUntil(endMs)) {
      timers.delete(timer);
      nowMs = Math.max(nowMs, timer.atMs);
      timer.call();
      await settle();
    }
    nowMs = endMs;
  };
  return { clock, advance, timers };
}
