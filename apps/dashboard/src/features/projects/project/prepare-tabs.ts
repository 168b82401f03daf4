import type { FieldSpec } from '../../forms/prepare-form';
import { PROJECT_FIELDS } from '../field-specs';

/** Fields of each form but the limits, by name; the limits have all others. */
const NAMES = {
  profile: ['name', 'team_id', 'cost_center', 'labels'],
  caching: [
    ...['cache_enabled', 'cache_ttl_seconds', 'cache_tool_calls'],
    ...['semantic_cache_enabled', 'semantic_threshold', 'semantic_shadow'],
  ],
  danger: ['is_active'],
} as const;

/** Sections of the limits; fields without one come first. */
const SECTIONS = {
  'What its keys may use': [
    ...(['allowed_models', 'allowed_providers', 'passthrough'] as const),
    ...(['allowed_tools', 'code_mode', 'share_responses'] as const),
  ],
  'When something fails or is missing': ['failover', 'drop_params', 'on_store_failure', 'unknown_model_policy'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const named = (names: readonly string[], section?: string): readonly FieldSpec[] =>
  names.flatMap((name) => {
    const spec = PROJECT_FIELDS.find((one) => one.name === name);
    if (spec === undefined) return [];
    return [section === undefined ? spec : { ...spec, section }];
  });

const ELSEWHERE: ReadonlySet<string> = new Set([...Object.values(NAMES), ...Object.values(SECTIONS)].flat());

/** Name and labels, which have no tab. */
export const PROFILE_FIELDS = named(NAMES.profile);
export const CACHING_FIELDS = named(NAMES.caching);
export const LIMIT_FIELDS: readonly FieldSpec[] = [
  ...PROJECT_FIELDS.filter(({ name }) => !ELSEWHERE.has(name)),
  ...Object.entries(SECTIONS).flatMap(([section, names]) => named(names, section)),
];

/** Settings that a click changes instead of a form. */
export const DANGER_FIELDS = named(NAMES.danger);
