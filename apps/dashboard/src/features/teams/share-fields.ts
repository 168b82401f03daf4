import { formatUsdExact } from '../../format/format-usd';
import type { FieldSpec } from '../forms/prepare-form';

/** A project's part of its team's monthly budget. */
export const SHARE_FIELDS: readonly FieldSpec[] = [
  {
    name: 'team_share_usd',
    label: "Share of the team's budget, USD",
    kind: 'usd',
    hint: 'Kept for this project each month. Leave empty for none.',
    understood: (usd) => `${formatUsdExact(Number(usd))} a month`,
  },
  {
    name: 'team_overdraft',
    label: 'Overdraft',
    kind: 'flag',
    hint: "Beyond its share, it may spend what no share of the team's budget claims",
  },
];
