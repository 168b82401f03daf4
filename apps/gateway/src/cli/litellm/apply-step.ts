import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type AdminClient, RequestFailed } from '../admin-client';

export type Outcome = 'created' | 'updated' | 'unchanged' | 'failed' | 'missing';

/** One thing of the gateway, and what became of it; with a dry run what would. */
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
  /** Id, or name of one that is made where it is not there. */
  readonly project: string;
  /** Aliases and vendors' keys for every project, not for this one alone. */
  readonly forAll: boolean;
  readonly withKey: boolean;
  /** Overwrites existing prices with those of the file. */
  readonly takesPrices: boolean;
}

/** Where steps write, and what they add themselves to. */
export interface Applying extends ApplyOptions {
  readonly api: ImportClient;
  /** Whose aliases and keys are meant; null = everybody's; undefined = the project would be made by this run. */
  readonly scope: string | null | undefined;
  readonly steps: ImportStep[];
}

const CONFLICT = 409;

/**
 * Runs one step; a refusal of the gateway becomes its outcome. Where somebody else made the same meanwhile (409), it runs once
 * more, to look again.
 */
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
