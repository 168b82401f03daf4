import { formatCount } from '../../format/format-number';
import { formatUsdExact } from '../../format/format-usd';
import type { Column } from '../../ui/table/column';
import type { FieldSpec } from '../forms/prepare-form';
import { ProvidersField } from '../forms/suggested-fields';
import { KEY_FIELDS, PROJECT_FIELDS } from '../projects/field-specs';
import type { Team } from './use-teams';

const PERIODS = { daily_budget_usd: 'a day', weekly_budget_usd: 'a week', monthly_cap_usd: 'a month' } as const;
type Limits = Pick<Team, keyof typeof PERIODS | 'rate_limit_per_minute' | 'tokens_per_minute'>;

const ALLOWED = ['allowed_models', 'allowed_providers'];
const A_MINUTE = ['rate_limit_per_minute', 'tokens_per_minute'];

/** Limits of everything below a team or user: as projects have them, and what these may permit at most. */
export const LIMIT_FIELDS: readonly FieldSpec[] = [
  ...PROJECT_FIELDS.filter(({ name }) => Object.hasOwn(PERIODS, name) || ALLOWED.includes(name)),
  ...KEY_FIELDS.filter(({ name }) => A_MINUTE.includes(name)),
  {
    name: 'passthrough',
    label: 'Pass-through at most',
    isMore: true,
    kind: 'list',
    widget: ProvidersField,
    hint: 'Providers whose native APIs projects and keys may permit. Leave empty for no limit; "none" permits none.',
    placeholder: 'no limit',
    emptyList: 'none',
  },
  {
    name: 'allowed_tools',
    label: 'MCP tools at most',
    isMore: true,
    kind: 'list',
    hint: 'Tools that projects and keys may permit, such as github__*. Leave empty for no limit; "none" permits none.',
    placeholder: 'no limit',
    emptyList: 'none',
  },
  {
    name: 'guardrail_rules',
    label: 'Guardrails',
    isMore: true,
    kind: 'text',
    rows: 4,
    isWide: true,
    hint: 'Rules as JSON, enforced in addition to those of projects and keys. Leave empty for none.',
    placeholder: '[{"name": "keys", "on": "input", "check": {"type": "secrets"}, "action": "block"}]',
    read: readRules,
    show: (rules) => JSON.stringify(rules),
  },
];

function readRules(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('must be JSON');
  }
}

/** Fields of a team that its own admins may change. */
export const TEAM_FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: 'Name', kind: 'text', required: true },
  { name: 'cost_center', label: 'Cost center', kind: 'text', hint: 'Of its projects without their own.' },
  {
    name: 'key_approval',
    label: 'Approve keys',
    kind: 'flag',
    hint: 'New keys of members wait until an admin of the team approves them',
  },
];

/** `$2.50 a day, $20.00 a month, 60 requests a minute`; null without any. */
export function describeLimits(level: Limits): string | null {
  const parts = (Object.keys(PERIODS) as (keyof typeof PERIODS)[]).flatMap((name) => {
    const usd = level[name];
    return usd === null ? [] : [`${formatUsdExact(usd)} ${PERIODS[name]}`];
  });
  const { rate_limit_per_minute: requests, tokens_per_minute: tokens } = level;
  if (requests !== null) parts.push(`${formatCount(requests)} requests a minute`);
  if (tokens !== null) parts.push(`${formatCount(tokens)} tokens a minute`);
  return parts.length === 0 ? null : parts.join(', ');
}

export const limitColumn = <T extends Limits>(): Column<T> => ({
  ...{ header: 'Limits', wideOnly: true, value: describeLimits },
});
