import type { Target } from './target';

export const FAILOVER_MODES = ['cloud_first', 'local_first', 'local_only', 'cloud_only', 'off'] as const;
export type FailoverMode = (typeof FAILOVER_MODES)[number];

/** Failover setting of project, key or alias; null = unset. */
export const FAILOVER_SETTINGS = ['on', 'off'] as const;
export type FailoverSetting = (typeof FAILOVER_SETTINGS)[number];

/** Location of a provider: a vendor, the operator's machines, or this process (allowed in every mode). */
export type ProviderPlace = 'cloud' | 'local' | 'built_in';

export interface ModeInput {
  /** Step 1 is the requested target; a local substitute comes last. */
  readonly steps: readonly Target[];
  readonly isPinned: boolean;
  placeOf(target: Target): ProviderPlace;
}

/** Sorts a chain by the mode and drops forbidden steps; may be empty. */
export function applyMode(mode: FailoverMode, input: ModeInput): readonly Target[] {
  return MODES[mode](input);
}

const MODES = {
  cloud_first: ({ steps }) => steps,
  off: ({ steps }) => steps,
  cloud_only: ({ steps, placeOf }) => steps.filter((step) => placeOf(step) !== 'local'),
  local_only: ({ steps, isPinned, placeOf }) => {
    const [requested] = steps;
    // A pinned version has no substitutes: those of its family need an explicit request.
    if (isPinned && requested !== undefined && placeOf(requested) === 'cloud') return [];
    return steps.filter((step) => placeOf(step) !== 'cloud');
  },
  local_first: ({ steps, isPinned, placeOf }) => {
    const movable = isPinned ? steps.slice(1) : steps;
    const local = movable.filter((step) => placeOf(step) === 'local');
    const others = movable.filter((step) => placeOf(step) !== 'local');
    return [...steps.slice(0, isPinned ? 1 : 0), ...local, ...others];
  },
} as const satisfies Record<FailoverMode, (input: ModeInput) => readonly Target[]>;
