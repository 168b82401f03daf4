import type { PriceBook, PricedModel } from '../pricing/price-book';
import { type Alias, type AliasBook, noAliases, type Strategy } from './alias';
import type { Timeouts } from './attempt-plan';
import type { Chain, Tier } from './chain';
import type { FailoverMode, FailoverSetting, ProviderPlace } from './failover-mode';
import { noWarmTargets, type WarmTargets } from './session-affinity';
import type { Target } from './target';
import { noTargetHealth, type TargetHealth } from './target-health';

/** A provider that can be called right now. */
export interface ConfiguredProvider {
  readonly name: string;
  readonly place: ProviderPlace;
  readonly modelPatterns: readonly RegExp[];
  /** Model names it listed by itself (local model servers). */
  readonly liveModels: ReadonlySet<string>;
  /** A server added without models: names with a vendor's price belong to the vendor. */
  readonly yieldsToVendors?: boolean;
  /** The operator drained it: new requests skip it. */
  readonly isDrained?: boolean;
  /** Milliseconds between its health checks; absent = none. */
  readonly checkIntervalMs?: number | null;
  readonly timeouts?: Timeouts | undefined;
}

/** Everything needed to turn a model name into targets; replaced as a whole in the background, never awaited. */
export interface RoutingTables {
  readonly providers: ReadonlyMap<string, ConfiguredProvider>;
  readonly prices: PriceBook;
  /** Edited ones before presets. */
  readonly chains: readonly Chain[];
  readonly aliases: AliasBook;
  readonly mode: FailoverMode;
  /** Local models that replace a tier. */
  readonly substitutes: Readonly<Partial<Record<Tier, Target>>>;
  readonly health: TargetHealth;
  /** Targets with a conversation in their prompt cache. */
  readonly warmTargets: WarmTargets;
  /** 0 ≤ x < 1, for weighted targets. */
  readonly random: () => number;
  /** Cached routes, valid as long as these tables. */
  readonly routes: Map<string | Alias, Route>;
  /** Tables with the providers that this project can call; the same ones if no project has its own keys. */
  forProject(projectId: string): RoutingTables;
}

export interface RouteTarget extends Target {
  readonly weight: number;
  /** Price-book entry; absent = no price. */
  readonly priced: PricedModel | undefined;
  /** The request named neither it nor an alias that lists it: a chain did, or it is a tier's local substitute. */
  readonly isStandIn?: true;
  readonly timeouts?: Timeouts;
  /** Its provider is drained: never asked. */
  readonly isDrained?: true;
  /** Its provider in target health, if that is checked. */
  readonly checked?: Target;
}

/** A target skipped because of the request or its conversation. */
export interface PassedOver {
  readonly target: RouteTarget;
  readonly reason:
    | 'context_window'
    | 'max_output_tokens'
    | 'no_vision'
    | 'no_endpoint'
    | 'unpriced'
    | 'provider_not_allowed'
    | 'session_affinity';
}

export interface Route {
  /** Names the route in cache keys: its first configured target, or the alias. */
  readonly scope: string;
  /** Target of a name, callable or not; of an alias the first one. */
  readonly requested: Target;
  /** In order of attempts; never empty. */
  readonly targets: readonly [RouteTarget, ...RouteTarget[]];
  /** Targets ahead of the first one that can't serve this request, and why; absent where none was passed over. */
  readonly passedOver?: readonly PassedOver[];
  /** Targets behind that one which can't serve it either. */
  readonly unfit?: readonly PassedOver[];
  /** One exact version was asked for. */
  readonly isPinned: boolean;
  /** The name per-model limits go by: the alias, else the model without its provider. */
  readonly limitName: string;
  /** Set when an alias was asked for. */
  readonly alias?: string;
  /** That alias is one of the project. */
  readonly isOwnAlias?: true;
  /** Failover setting of that alias. */
  readonly failover?: FailoverSetting;
  /** A plain answer that timed out is asked for elsewhere. */
  readonly retryTimeouts?: true;
  /** Failover is off: the strategy picks one of the targets, and no other is asked. */
  readonly isSole?: true;
  /** Separates it from routes of its scope with other targets: only requests with the same targets share a call. */
  readonly shared?: string;
  /** Further targets whose earlier answers may be served. */
  readonly answerers?: readonly Target[];
  /** `priority`: the order is `targets`. */
  readonly strategy: Strategy;
  /** Time without output until a second target is tried in parallel; absent = never. */
  readonly hedgeAfterMs?: number;
  /** Conversations stay with one of the targets; none replaces another. */
  readonly keepsConversations?: true;
  /** Key of this conversation in `warmTargets`; absent without affinity. */
  readonly session?: string;
  /** The first target has the conversation in its cache. */
  readonly isWarm?: true;
  /** Every target has a price for text. */
  readonly isPriced: boolean;
  /** Smallest context window of all targets, tokens; Infinity where none is known. */
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  /** No target is known to refuse images. */
  readonly takesImages: boolean;
}

/** False for models that are known without vision; a model without capabilities isn't known. */
export const takesImages = ({ priced }: Pick<RouteTarget, 'priced'>): boolean =>
  priced === undefined || priced.capabilities.length === 0 || priced.capabilities.includes('vision');

/** The target that would have answered, had nothing spoken against it. */
export function firstChoice({ passedOver, targets }: Pick<Route, 'passedOver' | 'targets'>): RouteTarget {
  return passedOver?.[0]?.target ?? targets[0];
}

/**
 * True if the operator knows the model: it has a price or a local server lists it. Callers make up other names of free
 * providers.
 */
export const isListed = (
  { prices, providers }: Pick<RoutingTables, 'prices' | 'providers'>,
  provider: string,
  model: string,
) => prices.isListed(provider, model) || providers.get(provider)?.liveModels.has(model) === true;

type Given = Pick<RoutingTables, 'providers' | 'prices'> & Partial<Omit<RoutingTables, 'routes'>>;

/** Tables with the given data only: no chains, no aliases, `cloud_first`. */
export function createRoutingTables(given: Given): RoutingTables {
  const tables: RoutingTables = {
    chains: [],
    aliases: noAliases,
    mode: 'cloud_first',
    substitutes: {},
    random: Math.random,
    ...given,
    forProject: given.forProject ?? (() => tables),
    health: given.health ?? noTargetHealth,
    warmTargets: given.warmTargets ?? noWarmTargets,
    routes: new Map(),
  };
  return tables;
}

/** Size of a request, in tokens. */
export interface RequestSize {
  /** Best guess of the prompt. */
  readonly inputTokens: number;
  /** The output limit it sets. */
  readonly outputTokens: number;
  /** It has images to look at. */
  readonly hasImages?: boolean;
}

/** True if every target can serve a request of this size. */
export const fitsAll = (
  { contextWindow, maxOutputTokens, takesImages: canSee }: Route,
  { inputTokens, outputTokens, hasImages }: RequestSize,
): boolean =>
  inputTokens + outputTokens <= contextWindow && outputTokens <= maxOutputTokens && (canSee || hasImages !== true);
