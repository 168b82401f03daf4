import type { ListedModel, Retiring } from '../../api/models';
import type { ErrorBucket } from '../../api/stats';
import { formatShare } from '../../format/format-number';
import { formatDay } from '../../format/format-time';
import { prepareModels } from './prepare-models';

const DAY_MS = 86_400_000;
const NEAR_MS = 30 * DAY_MS;

/** The day after the last one that is near. */
export const endOfNear = (nowMs: number): string => new Date(nowMs + NEAR_MS + DAY_MS).toISOString().slice(0, 10);

export interface Retirement {
  readonly target: string;
  readonly text: string;
}

/** Models in use whose vendor retires them within 30 days, or retired them in the last 30; the earliest first. */
export function prepareRetirements(
  models: readonly Retiring[],
  buckets: readonly ErrorBucket[],
  nowMs: number,
): Retirement[] {
  const near = prepareModels(models as readonly ListedModel[], { errors: buckets, latency: [], spend: [] }).flatMap(
    ({ listed, use, ...at }) => {
      const endMs = Date.parse(listed?.deprecation_date ?? '');
      const isNear = endMs <= nowMs + NEAR_MS && endMs + DAY_MS > nowMs - NEAR_MS;
      return use !== null && isNear ? [{ ...at, share: use.share, endMs }] : [];
    },
  );
  return near
    .toSorted((a, b) => a.endMs - b.endMs)
    .map(({ target, model, share, endMs }) => {
      const name = near.some((other) => other.model === model && other.target !== target) ? target : model;
      // The day itself is the last one.
      const verb = endMs + DAY_MS > nowMs ? 'retires' : 'retired';
      const part = share < 0.01 ? 'less than 1 %' : formatShare(share, 0);
      return { target, text: `${name} ${verb} on ${formatDay(endMs, 'utc')} (${part} of requests in this range)` };
    });
}
