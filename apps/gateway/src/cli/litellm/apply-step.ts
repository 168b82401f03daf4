import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type AdminClient, RequestFailed } from '../admin-client';

export type Outcome = 'created' | 'updated' | 'unchanged' | 'failed' | 'missing';

/** One step and its outcome; in a dry run, its would-be outcome. */
export interface ImportStep extends JsonObject {
  readonly what: string;
  readonly name: string;
  readonly outcome: Outcome;
  readonly detail: string;
}

/** Admin API methods for an import. */
export type ImportClient = Pick<AdminClient, 'get' | 'post' | 'patch' | 'delete'>;

export interface ApplyOptions {
  readonly isDryRun: boolean;
  /** Id, or name of a project to create. */
  readonly project: string;
  /** Aliases and vendors' keys for every project, not for this one alone. */
  readonly forAll: boolean;
  readonly withKey: boolean;
  /** Overwrites existing prices with those of the file. */
  readonly takesPrices: boolean;
}

/** Destination of steps, and their log. */
export interface Applying extends ApplyOptions {
  readonly api: ImportClient;
  /** Project whose aliases and keys count; null = global; undefined = a project that this run creates. */
  readonly scope: string | null | undefined;
  readonly steps: ImportStep[];
}

const CONFLICT = 409;

/** Runs one step; a refusal becomes its outcome. After a conflict (409) it looks again and runs once more. */
export async function tell(
  steps: ImportStep[],
  at: Pick<ImportStep, 'what' | 'name'>,
  step: (isAgain: boolean) => Promise<readonly [Outcome, string]>,
): Promise<Outcome> {
  try {
    const [outcome, detail] = await step(false).catch((error: unknown) => {
      if (error instanceof RequestFailed && error.status === CONFLICT) return step(true);
      throw error;
    });
    steps.push({ ...at, outcome, detail });
    return outcome;
  } catch (error) {
    if (!(error instanceof RequestFailed) || error.status === undefined) throw error;
    steps.push({ ...at, outcome: 'failed', detail: error.message });
    return 'failed';
  }
}

/** Fields that are there otherwise; amounts are compared as numbers, as either side may write them. */
export function changedFields(wanted: JsonObject, existing: JsonObject): JsonObject {
  const isSame = (field: string, value: JsonValue | undefined) =>
    field.endsWith('_usd') ? Number(value) === Number(existing[field]) : Bun.deepEquals(value, existing[field]);
  return Object.fromEntries(Object.entries(wanted).filter(([field, value]) => !isSame(field, value)));
}

export const pick = (from: JsonObject, fields: readonly string[]): JsonObject =>
  Object.fromEntries(fields.map((field) => [field, from[field] ?? null]));
