import type { Statement, StatementQuery, StatementTotal } from '../../api/finance';
import type { Project } from '../../api/projects';
import { NOTHING } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import { roundParts } from '../../format/round-parts';
import { SAVED } from '../../format/saved-labels';
import { outlookOf } from './cap-outlook';
import { type FinanceSearch, GROUPS } from './finance-search';
import { drawUnits, formatFixed, NANO_DIGITS, roundTo, toNano, unitOf } from './format-fixed';

export interface AskedFor extends FinanceSearch {
  readonly timeZone: string;
  readonly projectId: string | undefined;
}

/** A statement's question as the API takes it. */
export function toStatementQuery(asked: AskedFor): StatementQuery {
  const { month, by = 'project', model, provider, customer_id, label, timeZone, projectId } = asked;
  const { organization_id, team_id, cost_center } = asked;
  const cut = label?.indexOf('=') ?? -1;
  const all = {
    ...{
      month,
      time_zone: timeZone,
      by,
      organization_id,
      team_id,
      cost_center,
      project_id: projectId,
      model,
      provider,
      customer_id,
    },
    ...(label === undefined ? {} : { [`label.${label.slice(0, cut).toLowerCase()}`]: label.slice(cut + 1) }),
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(given);
}

/** What closing a month would close: a level, or (empty) everything; null where other filters narrow the statement. */
export function closableScope(
  search: Omit<AskedFor, 'timeZone'>,
): { team_id: string } | { organization_id: string } | object | null {
  const { team_id, organization_id, projectId, model, provider, customer_id, cost_center, label } = search;
  if ([projectId, model, provider, customer_id, cost_center, label].some((one) => one !== undefined)) return null;
  if (team_id !== undefined) return { team_id };
  return organization_id === undefined ? {} : { organization_id };
}

/** The month of a moment in a zone, `YYYY-MM`. */
export function monthOf(ms: number, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit' }).format(ms).slice(0, 7);
}

export function shiftMonth(month: string, by: number): string {
  const [year = 0, index = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, index - 1 + by, 1)).toISOString().slice(0, 7);
}

/** October 2026. */
export const monthName = (month: string): string =>
  new Date(`${month}-01T00:00:00Z`).toLocaleDateString('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** The month compared with, and until when of a running month: `October 2026, until Oct 26 10:00`. */
export function comparedName({ is_final: isFinal, compared_with: before, time_zone: timeZone }: Compared): string {
  if (isFinal) return monthName(before.month);
  const asked = { month: 'short', day: 'numeric', timeZone } as const;
  const day = new Intl.DateTimeFormat('en-US', asked).format(new Date(before.to));
  const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone });
  return `${monthName(before.month)}, until ${day} ${clock.format(new Date(before.to))}`;
}

type Compared = Pick<Statement, 'is_final' | 'compared_with' | 'time_zone'>;

const MONTHS_BACK = 24;

/** Months to choose from, the running one first; one from the address that is older is among them. */
export function monthOptions(running: string, chosen: string): readonly (readonly [string, string])[] {
  const months = Array.from({ length: MONTHS_BACK }, (_, index) => shiftMonth(running, -index));
  const all = months.includes(chosen) ? months : [...months, chosen];
  return all.map((month) => [month, month === running ? `${monthName(month)} (so far)` : monthName(month)]);
}

/** Decimals that suit a month's total: cents, unless there is less than ten dollars of it. */
export function decimalsFor(chosen: FinanceSearch['decimals'], totalUsd: number): number {
  if (chosen !== undefined) return Number(chosen);
  return Math.abs(totalUsd) >= 10 || totalUsd === 0 ? 2 : Math.abs(totalUsd) >= 0.1 ? 4 : NANO_DIGITS;
}

type Amounts = readonly (number | null)[];

/** Difference between the rounded total and the sum of rounded rows; null without one. */
export function roundingDifference(rows: Amounts, total: number | null, decimals: number): string | null {
  if (total === null || rows.includes(null)) return null;
  const shown = rows.reduce<bigint>((sum, usd) => sum + roundTo(toNano(usd ?? 0), decimals), 0n);
  const difference = roundTo(toNano(total), decimals) - shown;
  return difference === 0n ? null : `${difference > 0n ? '+' : ''}${drawUnits(difference, decimals)}`;
}

/** +12.3 %, −4.0 %, new. */
export function formatPercent({
  change_percent: percent,
  is_new: isNew,
}: Pick<Statement['total'], 'change_percent' | 'is_new'>) {
  if (isNew) return 'new';
  if (percent === null) return NOTHING;
  const size = Math.abs(percent).toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  return `${percent > 0 ? '+' : percent < 0 ? '−' : '±'}${size} %`;
}

/** Difference of the two rounded amounts, so that it matches the display. */
export function drawnChange(sums: Pick<StatementTotal, 'cost_usd' | 'previous_usd'>, decimals: number): number | null {
  if (sums.previous_usd === null) return null;
  const units = roundTo(toNano(sums.cost_usd), decimals) - roundTo(toNano(sums.previous_usd), decimals);
  return Number(units) / 10 ** decimals;
}

/** Reason of a missing change. */
export function noChangeReason({ compared_with: before }: NoChange): string {
  const isEmpty = before.data_from !== null && Date.parse(before.data_from) >= Date.parse(before.to);
  return `No change: ${isEmpty ? 'that time has no data' : 'not all of that time has data'}`;
}

interface NoChange {
  readonly compared_with: Pick<Statement['compared_with'], 'data_from' | 'to'>;
}

type Saved = Pick<StatementTotal, 'saved_exact_usd' | 'saved_semantic_usd' | 'saved_vendor_usd'>;

/** Both parts of the savings by the cache, rounded so that they add up to them; null where they are not known. */
export function drawnSaved(
  { saved_exact_usd: exact, saved_semantic_usd: semantic }: Pick<Saved, 'saved_exact_usd' | 'saved_semantic_usd'>,
  decimals: number,
): { readonly exact: number; readonly semantic: number } | null {
  if (exact === null || semantic === null) return null;
  const units = roundParts([exact, semantic].map(toNano), unitOf(decimals));
  const [drawnExact = 0, drawnSemantic = 0] = units.map((of) => Number(of) / 10 ** decimals);
  return { exact: drawnExact, semantic: drawnSemantic };
}

/** Parts of the savings by the cache, and the savings that are no part of them. */
export function describeSaved({ saved_vendor_usd: vendor, ...total }: Saved, decimals: number): readonly string[] {
  const parts = drawnSaved(total, decimals);
  const drawn = (usd: number) => formatFixed(usd, decimals);
  return [
    ...(parts === null ? [] : [`Of which exact ${drawn(parts.exact)} · semantic ${drawn(parts.semantic)}`]),
    vendor === null
      ? 'By customer, savings by prompt caches are not known'
      : `Besides: ${SAVED.byPromptCaches.toLowerCase()} ${drawn(vendor)}`,
  ];
}

/** With its sign. */
export function formatDifference(usd: number | null, decimals: number): string {
  const text = formatFixed(usd, decimals);
  return usd !== null && usd > 0 ? `+${text}` : text;
}

/** Expected, and in brackets the band. */
export function formatBand(forecast: Statement['total']['forecast'], decimals: number): string {
  if (forecast === null || forecast.low_usd === null) return 'not known yet';
  return `${formatFixed(forecast.low_usd, decimals)} to ${formatFixed(forecast.high_usd, decimals)}`;
}

/** The statement of one row of levels, by what it contains. */
export function statementOf(by: string, group: string): FinanceSearch | undefined {
  if (group === '') return undefined;
  if (by === 'organization') return { by: 'team', organization_id: group };
  if (by === 'cost_center') return { by: 'project', cost_center: group };
  return by === 'team' ? { by: 'project', team_id: group } : undefined;
}

/** Projects by the names that tell them apart; all else, and projects without one, as the statement names them. */
export const nameOfRow = (by: string, { group, name }: Named, projects: ReadonlyMap<string, string>): string =>
  (by === 'project' ? projects.get(group) : undefined) ?? name;
type Named = Pick<Statement['rows'][number], 'group' | 'name'>;

/** Heading of a group's column. */
export const groupName = (by: string): string =>
  GROUPS[by as keyof typeof GROUPS] ?? `Label ${by.slice('label.'.length)}`;

const FILTER_NAMES: Readonly<Record<string, string>> = {
  ...{ organization_id: 'Organization', team_id: 'Team', cost_center: 'Cost center' },
  ...{ project_id: 'Project', api_key_id: 'Key', model: 'Model', provider: 'Provider', modality: 'Modality' },
  customer_id: 'Customer',
};

/** Names by ids. */
type Names = (id: string) => string;

/** Filters of a statement, projects and levels by name. */
export function describeFilters(filters: Statement['filters'], projectName: Names, levelName: Names = String): string {
  const nameOf: Readonly<Record<string, Names>> = {
    ...{ project_id: projectName, organization_id: levelName, team_id: levelName },
  };
  const named = Object.entries(filters).map(([name, value]) => {
    const label = FILTER_NAMES[name] ?? `Label ${name.slice('label.'.length)}`;
    return `${label} ${nameOf[name]?.(value) ?? value}`;
  });
  return named.join(', ') || 'none';
}

/** The cap of a project in the month of a statement. */
export const capOf = ({ caps }: Pick<Statement, 'caps'>, project: Pick<Project, 'id'> | undefined) =>
  caps.find(({ scope, id }) => scope === 'project' && id === project?.id);

/** A month in a sentence; of a project, with the outlook of its cap as the statement shows it. */
export function describeMonth(
  statement: Pick<Statement, 'caps' | 'total' | 'is_final'>,
  project: Pick<Project, 'id' | 'monthly_cap_usd'> | undefined,
): string {
  const { total, is_final: isFinal } = statement;
  const cap = capOf(statement, project);
  const { expected_usd: expected } = total.forecast ?? {};
  const forecast = expected === undefined ? '' : `, forecast ${formatUsd(expected)}`;
  const isUncapped = project?.monthly_cap_usd === null;
  const outlook = project === undefined ? ' Choose a project to see its cap.' : isUncapped ? ' No cap is set.' : '';
  return `${formatUsd(cap?.spent_usd ?? total.cost_usd)} spent${forecast}.${cap === undefined ? outlook : ` ${outlookOf(cap, isFinal).text}.`}`;
}
