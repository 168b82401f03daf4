import type { Chain, Tier } from '@llm0/core/routing/chain';

/** An entry of `packages/core/data/chains.json`. */
interface PresetChain {
  readonly name: string;
  readonly local_tier: Tier | null;
  readonly targets: readonly {
    readonly provider: string;
    readonly model: string;
    readonly matches: readonly string[];
  }[];
}

const FILE = '@llm0/core/data/chains.json';

/** The bundled chains; an edited one of the same name overrides its preset. */
export async function readPresetChains(): Promise<readonly Chain[]> {
  const text = await Bun.file(import.meta.resolve(FILE).replace(/^file:\/\//, '')).text();
  return (JSON.parse(text) as PresetChain[]).map(({ name, local_tier, targets }) => ({
    name,
    localTier: local_tier,
    steps: targets,
  }));
}
