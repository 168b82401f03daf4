import { shiftMonth } from '@llm0/core/finance/calendar';
import type { Forecast } from '@llm0/core/finance/forecast';
import { formatUsd } from '@llm0/core/pricing/format-usd';
import { csvLine, Digits } from '@llm0/core/text/csv';
import { jsonUsd, jsonUsdOrNull } from '../fields/json-money';
import { showInstant } from '../fields/show-fields';
import type { Statement } from './load-statement';
import { type ShownStatement, shownFilters } from './schema';
import type { StatementRow } from './statement';

const showKnownForecast = (forecast: Forecast) => ({
  expected_usd: jsonUsd(forecast.expectedNanoUsd),
  low_usd: jsonUsdOrNull(forecast.lowNanoUsd),
  high_usd: jsonUsdOrNull(forecast.highNanoUsd),
});

export const showForecast = (forecast: Forecast | null) => forecast && showKnownForecast(forecast);

const showSums = (row: Omit<StatementRow, 'group'>) => ({
  requests: row.requests,
  cost_usd: jsonUsd(row.costNanoUsd),
  estimated_usd: jsonUsdOrNull(row.estimatedNanoUsd),
  previous_usd: jsonUsdOrNull(row.previousNanoUsd),
  change_usd: jsonUsdOrNull(row.changeNanoUsd),
  change_percent: row.changePercent,
  is_new: row.isNew,
  saved_usd: jsonUsd(row.savedNanoUsd),
  saved_exact_usd: jsonUsdOrNull(row.savedExactNanoUsd),
  saved_semantic_usd: jsonUsdOrNull(row.savedSemanticNanoUsd),
  saved_vendor_usd: jsonUsdOrNull(row.savedVendorNanoUsd),
  forecast: showForecast(row.forecast),
  cap_usd: jsonUsdOrNull(row.capNanoUsd),
  corrections_usd: jsonUsd(row.correctionsNanoUsd),
});

/** A closed statement is the one of its close, whenever it is asked for. */
const generatedAtMs = ({ closing, question }: Statement) => closing?.createdAtMs ?? question.nowMs;

/** A statement as the API shows it. */
export function showStatement(statement: Statement, version: string): ShownStatement {
  const { question, range, compared, closing } = statement;
  return {
    month: question.month,
    time_zone: question.timeZone,
    currency: 'USD',
    from: showInstant(range.fromMs),
    to: showInstant(range.toMs),
    is_final: statement.isFinal,
    closed_at: closing === undefined ? null : showInstant(closing.createdAtMs),
    closed_by: closing?.closedBy ?? null,
    compared_with: {
      month: shiftMonth(question.month, -1),
      from: showInstant(compared.fromMs),
      to: showInstant(compared.toMs),
      data_from: statement.dataFromMs === null ? null : showInstant(statement.dataFromMs),
    },
    by: question.by,
    filters: shownFilters(question),
    attribution: statement.attribution,
    generated_at: showInstant(generatedAtMs(statement)),
    gateway_version: closing?.gatewayVersion ?? version,
    notes: [...statement.notes],
    rows: statement.rows.map((row) => ({ group: row.group, name: row.name, ...showSums(row) })),
    total: showSums(statement.total),
    forecast_days: statement.forecastDays.map((day) => ({ date: day.date, ...showKnownForecast(day) })),
    caps: statement.caps.map((cap) => ({
      scope: cap.scope,
      project_id: cap.projectId,
      project_name: cap.projectName,
      id: cap.id,
      name: cap.name,
      cap_usd: jsonUsd(cap.capNanoUsd),
      spent_usd: jsonUsd(cap.spentNanoUsd),
      forecast: showForecast(cap.forecast),
      reached_on: cap.reachedOn,
      could_reach_on: cap.couldReachOn,
    })),
  };
}

/** Amounts are exact numbers, also below zero; other text is user input. */
type Cell = string | number | Digits | null | undefined;
type Line = Omit<StatementRow, 'group'> & {
  readonly kind: 'row' | 'total';
  readonly group: string;
  readonly name: string;
};

const money = (nano: number | null | undefined): Cell =>
  nano === null || nano === undefined ? null : new Digits(formatUsd(nano));

/** Every line repeats its statement's facts, so it makes sense alone; money has 9 decimals. */
const COLUMNS: Readonly<Record<string, (line: Line, statement: Statement, version: string) => Cell>> = {
  kind: ({ kind }) => kind,
  month: (_, { question }) => question.month,
  time_zone: (_, { question }) => question.timeZone,
  from: (_, { range }) => showInstant(range.fromMs),
  to: (_, { range }) => showInstant(range.toMs),
  currency: () => 'USD',
  filters: (_, { question }) =>
    Object.entries(shownFilters(question))
      .map(([name, value]) => `${name}=${value}`)
      .join('; ') || 'none',
  by: (_, { question }) => question.by,
  group: ({ group }) => group,
  name: ({ name }) => name,
  requests: ({ requests }) => requests,
  cost_usd: ({ costNanoUsd }) => money(costNanoUsd),
  estimated_usd: ({ estimatedNanoUsd }) => money(estimatedNanoUsd),
  compared_from: (_, { compared }) => showInstant(compared.fromMs),
  compared_to: (_, { compared }) => showInstant(compared.toMs),
  previous_usd: ({ previousNanoUsd }) => money(previousNanoUsd),
  change_usd: ({ changeNanoUsd }) => money(changeNanoUsd),
  change_percent: ({ changePercent, isNew }) =>
    isNew ? 'new' : changePercent === null ? null : new Digits(changePercent.toFixed(1)),
  saved_usd: ({ savedNanoUsd }) => money(savedNanoUsd),
  saved_exact_usd: ({ savedExactNanoUsd }) => money(savedExactNanoUsd),
  saved_semantic_usd: ({ savedSemanticNanoUsd }) => money(savedSemanticNanoUsd),
  saved_vendor_usd: ({ savedVendorNanoUsd }) => money(savedVendorNanoUsd),
  forecast_usd: ({ forecast }) => money(forecast?.expectedNanoUsd),
  forecast_low_usd: ({ forecast }) => money(forecast?.lowNanoUsd),
  forecast_high_usd: ({ forecast }) => money(forecast?.highNanoUsd),
  cap_usd: ({ capNanoUsd }) => money(capNanoUsd),
  corrections_usd: ({ correctionsNanoUsd }) => money(correctionsNanoUsd),
  closed_at: (_, { closing }) => closing && showInstant(closing.createdAtMs),
  generated_at: (_, statement) => showInstant(generatedAtMs(statement)),
  gateway_version: (_, { closing }, version) => closing?.gatewayVersion ?? version,
  notes: (_, { notes }) => notes.join(' '),
};

/** A statement as a file: its rows, then the total. */
export function statementCsv(statement: Statement, version: string): string {
  const rows = statement.rows.map((row): Line => ({ ...row, kind: 'row' }));
  const lines: readonly Line[] = [...rows, { ...statement.total, kind: 'total', group: '', name: 'Total' }];
  const cells = lines.map((line) => csvLine(Object.values(COLUMNS).map((cellOf) => cellOf(line, statement, version))));
  return [csvLine(Object.keys(COLUMNS)), ...cells].map((line) => `${line}\r\n`).join('');
}
