import { isMet } from '@llm0/core/alerts/condition';
import { Firings } from '@llm0/core/alerts/firings';
import type { Replay, ReplayQuery } from '@llm0/core/alerts/replay';
import { anomalyHours, findSpendAnomaly } from '@llm0/core/alerts/spend-anomaly';
import { eachInSlices } from '@llm0/core/logs/in-slices';
import type { Db } from '../../../client';
import { loadMinutes } from './minutes';
import { loadSpendHours } from './spend-hours';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Hours give the usual spend, and minutes what the running hour had cost at each check. */
export async function replayAnomaly(db: Db, query: ReplayQuery): Promise<Replay> {
  const { toMs, nowMs, projectId } = query;
  const { minutes, readFromMs } = await loadMinutes(db, { fromMs: hourOf(query.fromMs), toMs, nowMs, projectId });
  const fromMs = Math.min(Math.max(query.fromMs, Math.ceil(readFromMs / HOUR_MS) * HOUR_MS), toMs);
  const hours = new Set<number>();
  for (let atMs = hourOf(fromMs); atMs <= toMs; atMs += HOUR_MS) {
    for (const hourMs of anomalyHours(atMs)) hours.add(hourMs);
  }
  const { byHour, firstMs } = await loadSpendHours(db, [...hours], projectId);
  const costs = new Map(minutes.map(({ startMs, costNanoUsd }) => [startMs, costNanoUsd]));
  const spent = new Map(byHour);
  const firings = new Firings();
  await eachInSlices(minutesOf(hourOf(fromMs), toMs), (atMs) => {
    const hourMs = hourOf(atMs);
    // The hour before is over, and the running one has what its minutes so far have cost.
    if (atMs === hourMs) spent.set(hourMs - HOUR_MS, byHour.get(hourMs - HOUR_MS) ?? 0).set(hourMs, 0);
    else spent.set(hourMs, (spent.get(hourMs) ?? 0) + (costs.get(atMs - MINUTE_MS) ?? 0));
    if (atMs < fromMs) return;
    const value = findSpendAnomaly(atMs, { byHour: spent, firstMs })?.z ?? null;
    firings.check(atMs, isMet(query, value), value);
  });
  return { fromMs, firings: firings.firings, highest: firings.highest };
}

const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS;

function* minutesOf(fromMs: number, toMs: number): Generator<number> {
  for (let atMs = fromMs; atMs <= toMs; atMs += MINUTE_MS) yield atMs;
}
