/** One place a request may be sent to: a configured provider and the model's name there. */
export interface Target {
  readonly provider: string;
  readonly model: string;
}

/** Stable text form, used for breakers, logs and cache keys. */
export function targetKey(target: Target): string {
  return `${target.provider}/${target.model}`;
}

export function isSameTarget(a: Target, b: Target): boolean {
  return a.provider === b.provider && a.model === b.model;
}
