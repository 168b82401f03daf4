import { describe, expect, test } from 'bun:test';
import type { Usage } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { SessionClock } from './session-clock';
import type { SessionMeter } from './session-meter';
import type { SessionSpending } from './session-spending';

function open(stretches = Number.POSITIVE_INFINITY) {
  const booked: { readonly seconds: number; readonly isGuess: boolean }[] = [];
  const events: string[] = [];
  let nowMs = 0;
  let held = 0;
  const note = (usage: Usage) =>
    booked.push({ seconds: usage.units?.sessionSeconds ?? 0, isGuess: usage.estimated === true });
  const hold = async ({ estimate }: { readonly estimate: () => Usage | undefined }) => {
    held += 1;
    if (held > stretches) throw new GatewayError('spend_cap_exceeded', 'spent');
    return {
      complete: note,
      fail: () => note(estimate() as Usage),
      release: () => events.push('release'),
    } as unknown as SessionMeter;
  };
  const clock = new SessionClock({ hold } as unknown as SessionSpending, () => nowMs);
  const pass = async (seconds: number) => {
    nowMs += seconds * 1000;
    await clock.tick();
  };
  return { clock, pass, booked, events, held: () => held };
}

const sum = (booked: readonly { readonly seconds: number }[]) => booked.reduce((all, { seconds }) => all + seconds, 0);

describe('sessions that are paid by the second', () => {
  test('each minute is held before the last one ends, and cumulative seconds are not summed', async () => {
    const { clock, pass, booked, held } = open();
    await clock.start();
    for (let i = 0; i < 130; i++) {
      await pass(1);
      clock.tell(i + 1, false);
    }
    expect(held()).toBe(3);
    clock.tell(131.25, true);
    clock.close();
    expect(booked).toHaveLength(3);
    expect(sum(booked)).toBe(131.25);
    expect(booked.at(-1)?.isGuess).toBe(false);
  });

  test('a session that never tells its end is booked by the time that passed', async () => {
    const { clock, pass, booked } = open();
    await clock.start();
    clock.tell(10, false);
    await pass(20);
    clock.close(new GatewayError('upstream_error', 'gone'));
    clock.close();
    expect(booked).toEqual([{ seconds: 20, isGuess: true }]);
  });

  test('without budget for the next minute, it ends before this one is over', async () => {
    const { clock, pass, booked } = open(1);
    await clock.start();
    await pass(57);
    const refused = pass(2).then(
      () => undefined,
      (error: GatewayError) => error,
    );
    const error = await refused;
    expect(error?.kind).toBe('spend_cap_exceeded');
    clock.close(error);
    expect(sum(booked)).toBeLessThanOrEqual(60);
  });

  test('a stretch that is held while the session ends is given back', async () => {
    const { clock, pass, booked, events } = open();
    await clock.start();
    await pass(57);
    const next = pass(2);
    clock.close();
    await next;
    expect(events).toEqual(['release']);
    expect(sum(booked)).toBe(59);
  });
});
