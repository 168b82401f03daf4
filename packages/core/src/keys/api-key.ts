import type { Guardrails } from '../guardrails/guardrails';
import type { GuardrailRule } from '../guardrails/policy';
import type { Level, LevelIds } from '../limits/budgets';
import type { Budgets } from '../limits/compile-budgets';
import type { LevelLimits } from '../limits/level-limits';
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
  /** Of a UTC day, and of a week from Monday. */
  readonly dailyBudgetNanoUsd: number | null;
  readonly weeklyBudgetNanoUsd: number | null;
  readonly strictCaps: boolean;
  /** Output tokens assumed for the hold when the request sets no limit of its own. */
  readonly defaultOutputTokens: number;
  readonly cacheEnabled: boolean;
  /** null = the gateway's CACHE_TTL_SECONDS. */
  readonly cacheTtlSeconds: number | null;
  readonly semanticCacheEnabled: boolean;
  readonly semanticThreshold: number | null;
  readonly semanticShadow: boolean;
  /** Answers with tool calls are cached too: an agent's second run then replays its first. */
  readonly cacheToolCalls: boolean;
  /** Its keys and customers may read, continue and delete each other's stored answers. */
  readonly shareResponses: boolean;
  /** Drops parameters that the answering vendor doesn't support instead of refusing them; null = not set. */
  readonly dropParams: boolean | null;
  /** `off`: only the first target; null = not set: on. */
  readonly failover: FailoverSetting | null;
  /** Providers with native APIs for its keys; null = none. */
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
  /** Longest wait for a rate or concurrency limit, in milliseconds; null = 429 at once. */
  readonly queueTimeoutMs: number | null;
}

/** All of them must name a thing. */
export type Lists = readonly (readonly string[])[];

/** Providers that may answer for everything below a level. */
export interface ProviderList {
  readonly level: Level | 'project';
  readonly providers: readonly string[];
}

/** An API key on the request path; the store has only the SHA-256 of its secret. */
export interface ApiKey {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly version: number;
  readonly isActive: boolean;
  /** Set while it waits for the approval of an admin; it isn't active then. */
  readonly requestedAtMs?: number | null;
  /** Its user may no longer have keys in the project. */
  readonly isOwnerOut?: boolean;
  /** Requests per minute; null = no limit. */
  readonly rateLimitPerMinute: number | null;
  /** Bucket size; null = the same as `rateLimitPerMinute`. */
  readonly rateLimitBurst: number | null;
  readonly tokensPerMinute: number | null;
  readonly maxConcurrency: number | null;
  /** null = all that the levels above allow. */
  readonly allowedModels: readonly string[] | null;
  /** Lists of its project, team, organization and user; a model must be in each. Absent without any. */
  readonly modelsAbove?: Lists;
  /** Those of team, organization and user: who administers a project chooses the names of its aliases. Absent without any. */
  readonly modelsOfLevels?: Lists;
  /** Providers that may answer; null = all that the levels above allow. */
  readonly allowedProviders: readonly string[] | null;
  /** Of its project, team, organization and user; a provider must be in each. Absent without any. */
  readonly providersAbove?: readonly ProviderList[];
  /** Providers with native APIs by team, organization and user, as above. */
  readonly passthroughAbove?: Lists;
  /** Patterns of MCP tools by team, organization and user, as above. */
  readonly toolsAbove?: Lists;
  /** null = the project decides. */
  readonly dropParams: boolean | null;
  /** null = alias and project decide. */
  readonly failover: FailoverSetting | null;
  /** null = the project's; an empty list = none at all. */
  readonly passthrough: readonly string[] | null;
  /** Patterns over `alias__tool`; null = the project's; an empty list = none at all. */
  readonly allowedTools: readonly string[] | null;
  /** null = the project decides. */
  readonly codeMode: boolean | null;
  /** Guardrails in addition to the project's; null = none. */
  readonly guardrailRules: readonly GuardrailRule[] | null;
  /** Added to the project's and overriding them; null = none. */
  readonly labels: Labels | null;
  readonly expiresAtMs: number | null;
  readonly budgetNanoUsd: number | null;
  readonly budgetPeriod: BudgetPeriod;
  /** Of a UTC day, and of a week from Monday, beside `budgetNanoUsd`. */
  readonly dailyBudgetNanoUsd: number | null;
  readonly weeklyBudgetNanoUsd: number | null;
  /** Most that one of its runs may be given; null = any amount. */
  readonly maxRunBudgetNanoUsd: number | null;
  /** Budget of a run that names none; null = none. */
  readonly defaultRunBudgetNanoUsd: number | null;
}

/** The level whose `allowed_providers` lacks the provider, the widest first; undefined = none. */
export function levelWithout(
  { allowedProviders: own, providersAbove: above }: Pick<ApiKey, 'allowedProviders' | 'providersAbove'>,
  provider: string,
): ProviderList['level'] | 'key' | undefined {
  const level = above?.find(({ providers }) => !providers.includes(provider))?.level;
  return level ?? (own === null || own.includes(provider) ? undefined : 'key');
}

/** Providers with native APIs for the key. */
export function passthroughOf({ key, project }: Principal): readonly string[] {
  const own = key.passthrough ?? project.passthrough ?? [];
  const { passthroughAbove: above } = key;
  return above === undefined ? own : own.filter((name) => above.every((list) => list.includes(name)));
}

/** Patterns of the MCP tools that a key may call; a tool must match one of each list. */
export function allowedToolsOf({ key, project }: Principal): Lists {
  return [key.allowedTools ?? project.allowedTools ?? [], ...(key.toolsAbove ?? [])];
}

/** True if the key may run scripts over its tools. */
export const codeModeOf = ({ key, project }: Principal): boolean => key.codeMode ?? project.codeMode;

/** A key together with its project, as authentication loads them. */
export interface Principal {
  readonly key: ApiKey;
  readonly project: Project;
  /** Only if the caller sent a replaced secret: it works until then. */
  readonly secretEndsMs?: number;
  /** Guardrails of project and key; absent without any. */
  readonly guardrails?: Guardrails;
  /** Budgets by day, week and label; absent without any. */
  readonly budgets?: Budgets;
  /** Above the key and its project. */
  readonly levels?: LevelIds;
  readonly levelLimits?: LevelLimits;
}

/** Labels of a request: key and project override the caller, so that no caller moves costs elsewhere. */
export function labelsOf({ key, project }: Principal, sent: Labels | undefined): Labels | undefined {
  if (key.labels === null && project.labels === null) return sent;
  return { ...sent, ...project.labels, ...key.labels };
}

/** Keys: `llm0_live_` + 64 hex digits, 256 random bits. The store has only the SHA-256. */
const PREFIX = 'llm0_live_';
const SHOWN_CHARACTERS = PREFIX.length + 6;

export interface NewKeySecret {
  /** Shown once, on creation. */
  readonly secret: string;
  /** SHA-256 of the secret, lower-case hex. */
  readonly hash: string;
  /** The first characters, for recognising a key in lists. */
  readonly prefix: string;
}

export function createKeySecret(): NewKeySecret {
  return keySecretOf(PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex'));
}

/** Parts of a given secret, which `isKeySecret` accepts. */
export function keySecretOf(secret: string): NewKeySecret {
  return { secret, hash: hashSecret(secret), prefix: secret.slice(0, SHOWN_CHARACTERS) };
}

/** True for the form that `createKeySecret` makes: enough characters for 256 random bits. */
export const isKeySecret = (text: string): boolean => looksLikeKey(text) && /_[0-9a-f]{64}$/.test(text);

/** SHA-256, lower-case hex. */
export function hashSecret(secret: string): string {
  return Bun.CryptoHasher.hash('sha256', secret, 'hex');
}

/** False for text that can't be a key and so costs no look-up. */
export function looksLikeKey(text: string): boolean {
  return text.length === PREFIX.length + 64 && text.startsWith(PREFIX);
}
