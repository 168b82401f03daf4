interface Target {
  readonly provider: string;
  readonly model: string;
}

/** A model at its provider, as routes and the API write it. */
export const formatTarget = ({ provider, model }: Target): string => `${provider}/${model}`;

/** Names for models of a list: the model alone, with its provider where two providers have it. */
export function namesOfModels(list: readonly Target[]): (of: Target) => string {
  const places = new Map<string, Set<string>>();
  for (const { provider, model } of list) places.getOrInsertComputed(model, () => new Set()).add(provider);
  return (of) => ((places.get(of.model)?.size ?? 0) > 1 ? formatTarget(of) : of.model);
}
