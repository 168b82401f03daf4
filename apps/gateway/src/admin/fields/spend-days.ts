import { z } from '@hono/zod-openapi';
import type { Db } from '@llm0/drizzle/client';
import { loadDays } from '@llm0/drizzle/queries/finance/amounts';
import { usdShown } from './fields';
import { jsonUsd } from './json-money';

const DAY_MS = 86_400_000;
const MOST_DAYS = 31;
const MESSAGE = `must be a whole number from 1 to ${MOST_DAYS}`;

/** Query of lists whose rows show their days of spend. */
export const spendDays = z
  .string()
  .regex(/^\d{1,2}$/, MESSAGE)
  .transform(Number)
  .refine((days) => days >= 1 && days <= MOST_DAYS, MESSAGE)
  .optional()
  .openapi({ type: 'integer', minimum: 1, maximum: MOST_DAYS, description: 'Adds `spend_by_day` of so many days' });

export const spendByDay = z
  .array(usdShown)
  .nullable()
  .openapi({ description: 'Spend of each UTC day, oldest first, today last; null unless `spend_days` asks for it' });

interface Question {
  readonly nowMs: number;
  /** Absent: nothing is read. */
  readonly days: number | undefined;
  readonly by: 'key' | 'customer';
  /** undefined = any; `ids` are keys of several projects. */
  readonly projectId?: string;
  readonly ids: readonly string[];
}

/** Days of spend of the rows of a list, in one question to the roll-ups. */
export async function loadSpendByDay(
  db: Db,
  { nowMs, days, by, projectId, ids }: Question,
): Promise<(id: string) => readonly number[] | null> {
  if (days === undefined) return () => null;
  const toMs = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
  const fromMs = toMs - days * DAY_MS;
  const query = { fromMs, toMs, by, filter: projectId === undefined ? {} : { projectId }, groups: ids };
  const found: ReadonlyMap<string, readonly number[]> = ids.length === 0 ? new Map() : await loadDays(db, query);
  const none: readonly number[] = Array.from({ length: days }, () => 0);
  return (id) => (found.get(id) ?? none).map(jsonUsd);
}
