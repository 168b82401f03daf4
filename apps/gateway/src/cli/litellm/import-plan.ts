import type { JsonObject, JsonValue } from '@llm0/core/chat/json';

/** Import plan of a LiteLLM config, before any call to the gateway. */
export interface ImportPlan {
  readonly providers: readonly PlannedProvider[];
  readonly prices: readonly PlannedPrice[];
  readonly unpriced: readonly UnpricedModel[];
  readonly aliases: readonly PlannedAlias[];
  readonly project: PlannedProject;
  readonly notes: readonly ImportNote[];
}

/** Connection to a provider or server. */
export interface PlannedProvider {
  /** Proposed name of a server; an existing one keeps its own (`placePlan`). */
  readonly name: string;
  /** Known here by this name; every other one is added. */
  readonly isVendor: boolean;
  /** Absent = the vendor's own. */
  readonly baseUrl?: string;
  /** URL to use as an OpenAI-compatible server if the vendor already has another address here. */
  readonly asServer?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, string>>;
  readonly keys: readonly PlannedKey[];
  /** Unset variables of keys. */
  readonly missing: readonly string[];
}

export interface PlannedKey {
  /** Variable of the key, else its model. */
  readonly name: string;
  readonly secret: string;
}

/** A row of `POST /models/import`. */
export type PlannedPrice = JsonObject & { readonly provider: string; readonly model: string };

/** A custom model name: the gateway may have a price for it or for its base model. */
export interface UnpricedModel {
  readonly provider: string;
  readonly model: string;
  /** From `model_info.base_model`. */
  readonly base?: { readonly provider: string; readonly model: string };
}

export interface PlannedAlias {
  readonly alias: string;
  readonly strategy: string;
  readonly targets: readonly PlannedTarget[];
}

export interface PlannedTarget {
  readonly provider: string;
  readonly model: string;
  readonly weight: number;
}

/** The project for the proxy, and the key for its clients. */
export interface PlannedProject {
  /** Settings from the file; they apply to an existing project as well. */
  readonly settings: JsonObject;
  /** LiteLLM's defaults, for a new project only. */
  readonly defaults: JsonObject;
  readonly key: JsonObject;
}

/** Something the gateway's admin API cannot hold as the file has it. */
export interface ImportNote {
  readonly kind: 'left out' | 'differs' | 'set yourself';
  /** Place in the file, or name of a gateway variable. */
  readonly at: string;
  readonly why: string;
}

export type AddNote = (kind: ImportNote['kind'], at: string, why: string) => void;

export const asText = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Numbers, also as text, as amounts in small exponents are read by some. */
export function asNumber(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
