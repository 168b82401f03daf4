/** One place a request may be sent to: a configured provider and the model's name there. */
export interface Target {
  readonly provider: string;
  readonly model: string;
}

/** Stable text form, used for breakers, logs and cache keys. */
export function targetKey(target: Target): string {
  return `${target.provider}/${target.model}`;
}

/** False where a call had one target and asked it once: then nothing has to be explained. */
export function hadChoice(
  { targets, unfit }: { readonly targets: readonly Target[]; readonly unfit?: readonly unknown[] | undefined },
  { length: attempts }: readonly unknown[],
): boolean {
  return attempts > 1 || (attempts > 0 && (targets.length > 1 || unfit !== undefined));
}

export function isSameTarget(a: Target, b: Target): boolean {
  return a.provider === b.provider && a.model === b.model;
}
