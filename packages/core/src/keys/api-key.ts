import type { Guardrails } from '../guardrails/guardrails';
import type { GuardrailRule } from '../guardrails/policy';
import type { FailoverSetting } from '../routing/failover-mode';

/** Behaviour of a project's requests while the hot store is unreachable. */
export type StoreFailurePolicy = 'closed' | 'open';
export type UnknownModelPolicy = 'refuse' | 'allow_unpriced';
export type BudgetPeriod = 'total' | 'month';
/** Labels for cost attribution: `team`, `cost-center`, …. */
export type Labels = Readonly<Record<string, string>>;

/** A project as the request path sees it. Money in nano-USD, `null` = no limit. */
export interface Project {
  readonly id: string;
  readonly name: string;
  /** Grows by one with every change; `admit` compares it with the hot store's. */
  readonly version: number;
  readonly isActive: boolean;
  readonly monthlyCapNanoUsd: number | null;
  readonly strictCaps: boolean;
  /** Output tokens assumed for the hold when the request sets no limit of its own. */
  readonly defaultOutputTokens: number;
  readonly cacheEnabled: boolean;
  /** null = the gateway's CACHE_TTL_SECONDS. */
  readonly cacheTtlSeconds: number | null;
  readonly semanticCacheEnabled: boolean;
  readonly semanticThreshold: number | null;
  readonly semanticShadow: boolean;
  /** Answers with tool calls are kept too: an agent's second run then replays its first. */
  readonly cacheToolCalls: boolean;
  /** Its keys and customers may read, go on from and delete each other's kept answers. */
  readonly shareResponses: boolean;
  /** Leave out what the answering vendor does not take, instead of refusing it; null = not set. */
  readonly dropParams: boolean | null;
  /** `off`: nobody but the first target is asked; null = not set: on. */
  readonly failover: FailoverSetting | null;
  /** Providers whose native APIs its keys may use; null = none. */
  readonly passthrough: readonly string[] | null;
  /** MCP tools that its keys may call: patterns over `alias__tool`; null = none. */
  readonly allowedTools: readonly string[] | null;
  /** Its keys may run scripts over their MCP servers' tools. */
  readonly codeMode: boolean;
  /** All of its requests have them; null = none. */
  readonly labels: Labels | null;
  readonly onStoreFailure: StoreFailurePolicy;
  /** null = not set: refuse where a cap applies, else allow unpriced. */
  readonly unknownModelPolicy: UnknownModelPolicy | null;
  /** Different customers without limits of their own in a calendar month; null = any number. */
  readonly maxCustomers: number | null;
}

/** An API key as the request path sees it; the secret itself is never kept, only its SHA-256. */
export interface ApiKey {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly version: number;
  readonly isActive: boolean;
  /** Requests per minute; null = no limit. */
  readonly rateLimitPerMinute: number | null;
  /** Bucket size; null = the same as `rateLimitPerMinute`. */
  readonly rateLimitBurst: number | null;
  readonly tokensPerMinute: number | null;
  readonly maxConcurrency: number | null;
  /** null = every model. */
  readonly allowedModels: readonly string[] | null;
  /** null = as the project says. */
  readonly dropParams: boolean | null;
  /** null = as alias and project say. */
  readonly failover: FailoverSetting | null;
  /** null = as the project says; an empty list = none, whatever it says. */
  readonly passthrough: readonly string[] | null;
  /** Patterns over `alias__tool`; null = as the project says; an empty list = none, whatever it says. */
  readonly allowedTools: readonly string[] | null;
  /** null = as the project says. */
  readonly codeMode: boolean | null;
  /** Guardrails beside the project's; null = none. */
  readonly guardrailRules: readonly GuardrailRule[] | null;
  /** Beside the project's, which they outdo; null = none. */
  readonly labels: Labels | null;
  readonly expiresAtMs: number | null;
  readonly budgetNanoUsd: number | null;
  readonly budgetPeriod: BudgetPeriod;
}

/** Providers whose native APIs a key may use. */
export function passthroughOf({ key, project }: Principal): readonly string[] {
  return key.passthrough ?? project.passthrough ?? [];
}

/** Patterns of the MCP tools that a key may call. */
export function allowedToolsOf({ key, project }: Principal): readonly string[] {
  return key.allowedTools ?? project.allowedTools ?? [];
}

/** True if the key may run scripts over its tools. */
export const codeModeOf = ({ key, project }: Principal): boolean => key.codeMode ?? project.codeMode;

/** A key together with its project, as authentication loads them. */
export interface Principal {
  readonly key: ApiKey;
  readonly project: Project;
  /** Guardrails of project and key; absent without any. */
  readonly guardrails?: Guardrails;
}

/** A request's labels: what key and project say goes before what a caller says, so that no caller moves costs elsewhere. */
export function labelsOf({ key, project }: Principal, sent: Labels | undefined): Labels | undefined {
  if (key.labels === null && project.labels === null) return sent;
  return { ...sent, ...project.labels, ...key.labels };
}
