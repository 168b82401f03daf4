import { formatUsd, formatUsdExact } from '../../format/format-usd';
import type { Shares } from './use-teams';

/** A project's part of the bar, or the rest, in percent of the bar. */
export interface Segment {
  readonly name: string;
  readonly isRest: boolean;
  readonly usedWidth: number;
  readonly freeWidth: number;
  readonly text: string;
}

/** Shares from the largest, then what no share claims. Shares beyond the budget fill the bar. */
export function prepareShares({
  budget_usd: budget,
  rest_usd: rest,
  drawn_usd: drawn,
  data,
}: Shares): readonly Segment[] {
  if (budget === null || rest === null) return [];
  const claimed = data.reduce((sum, one) => sum + one.share_usd, 0);
  const whole = Math.max(budget, claimed);
  const segment = (name: string, of: number, used: number, isRest = false): readonly Segment[] => {
    if (of <= 0) return [];
    const [within, percent] = [Math.min(used, of), (usd: number) => (whole === 0 ? 0 : (usd / whole) * 100)];
    const text = `${name}: ${formatUsd(used)} of ${formatUsdExact(of)} spent`;
    return [{ name, isRest, usedWidth: percent(within), freeWidth: percent(of - within), text }];
  };
  const shares = data.flatMap((one) => segment(one.name, one.share_usd, one.spent_usd - one.drawn_usd));
  return [...shares, ...segment('The rest', rest, drawn, true)];
}

/** `$4.00 of its share of $5.00 in the team's budget is spent, and $1.00 of what no share claims.` */
export function describeShare({
  share_usd: share,
  spent_usd: spent,
  drawn_usd: drawn,
}: Shares['data'][number]): string {
  const own = `${formatUsd(spent - drawn)} of its share of ${formatUsdExact(share)} in the team's budget is spent`;
  return drawn === 0 ? `${own}.` : `${own}, and ${formatUsd(drawn)} of what no share claims.`;
}

/** `$4.00 of the $10.00 that no share claims are spent, $1.00 of it by projects without a share.` */
export function describeRest({ rest_usd: rest, drawn_usd: drawn, others_spent_usd: others }: Shares): string {
  if (rest === null) return 'Set a monthly budget of the team: shares have no effect without it.';
  const over = `The shares exceed the budget by ${formatUsdExact(-rest)}: the budget ends first.`;
  if (rest < 0) return over;
  const spent = `${formatUsd(drawn)} of the ${formatUsdExact(rest)} that no share claims is spent`;
  return others === 0 ? `${spent}.` : `${spent}, ${formatUsd(others)} of it by projects without a share.`;
}
