import type { PriceBook } from '../pricing/price-book';
import { readModelFamily } from './model-name';
import type { Target } from './target';

/** Sizes of local models that replace a family of cloud models. */
export const TIERS = ['flagship', 'balanced', 'budget'] as const;
export type Tier = (typeof TIERS)[number];

/** One member of a chain, and which names of its provider take its place. */
export interface ChainStep extends Target {
  /** Family names, `*` for any characters; a request for one of them makes that model step 1 instead of this one. */
  readonly matches: readonly string[];
}

/** Interchangeable targets in fallback order after the requested one. */
export interface Chain {
  readonly name: string;
  /** Local model at the end of the chain; null = none. */
  readonly localTier: Tier | null;
  readonly steps: readonly ChainStep[];
  /** Time without output until a second target is tried in parallel; absent = never. */
  readonly hedgeAfterMs?: number;
}

export interface ChainPlace {
  readonly chain: Chain;
  readonly step: ChainStep;
}

/**
 * The chain a model belongs to: its family's longest matching pattern, the earlier chain when two are as long. With
 * `provider`, steps of that provider only. Models that are known not to be for chat belong to none.
 */
export function findChain(
  chains: readonly Chain[],
  prices: PriceBook,
  asked: { readonly provider?: string; readonly model: string },
): ChainPlace | undefined {
  const { family } = readModelFamily(asked.model);
  let best: ChainPlace | undefined;
  let longest = 0;
  for (const chain of chains) {
    for (const step of chain.steps) {
      if (asked.provider !== undefined && step.provider !== asked.provider) continue;
      for (const pattern of step.matches) {
        if (pattern.length <= longest) continue;
        if (!matchesPattern(pattern, family) && !matchesPattern(pattern, asked.model)) continue;
        best = { chain, step };
        longest = pattern.length;
      }
    }
  }
  if (best === undefined) return undefined;
  const { provider } = best.step;
  const priced = prices.find(provider, asked.model) ?? prices.find(provider, family);
  return priced === undefined || priced.mode === 'chat' ? best : undefined;
}

/** The requested model, then the chain's other members in their order. */
export function chainTargets(requested: Target, place: ChainPlace | undefined): readonly Target[] {
  if (place === undefined) return [requested];
  return [requested, ...place.chain.steps.filter((step) => step !== place.step)];
}

/** Current chains: edited ones, then unedited presets. */
export function mergeChains<T extends Chain>(edited: readonly T[], presets: readonly Chain[]): readonly (T | Chain)[] {
  const names = new Set(edited.map((chain) => chain.name));
  return [...edited, ...presets.filter((preset) => !names.has(preset.name))];
}

/** `*` matches any characters, including none; others match themselves. Linear in the name's length. */
export function matchesPattern(pattern: string, name: string): boolean {
  const parts = pattern.split('*');
  const [head = '', ...rest] = parts;
  if (rest.length === 0) return name === pattern;
  if (!name.startsWith(head)) return false;
  const tail = rest.pop() ?? '';
  let from = head.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return name.length - tail.length >= from && name.endsWith(tail);
}
