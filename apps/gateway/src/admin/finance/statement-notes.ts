import { wallMs } from '@llm0/core/finance/calendar';
import { formatUsd } from '@llm0/core/pricing/format-usd';
import { showInstant } from '../fields/show-fields';
import { isLevelGroup } from './facts';
import type { Found } from './find-months';
import type { StatementQuestion } from './schema';
import type { StatementRow } from './statement';

interface Sums {
  readonly rows: readonly StatementRow[];
  readonly total: Omit<StatementRow, 'group'>;
  readonly dataFromMs: number | null;
}

/** What a reader must know, as sentences. */
export function notesOf(question: StatementQuestion, found: Found, sums: Sums): readonly string[] {
  const notes = [
    ...monthNotes(question, found, sums),
    ...closeNotes(question, found, sums),
    ...sumNotes(question, found, sums),
  ];
  return notes.filter(([applies]) => applies).map(([, text]) => text);
}

type Note = readonly [applies: boolean, text: string];

function monthNotes(
  { timeZone, by, within, visible }: StatementQuestion,
  { months, scope, closed, isClosed }: Found,
  { dataFromMs }: Sums,
): readonly Note[] {
  const { isFinal, compared, previous } = months;
  const isCompared = previous !== null && dataFromMs === null;
  const until = `${new Date(wallMs(timeZone, compared.toMs)).toISOString().slice(0, 16).replace('T', ' ')} ${timeZone}`;
  const isNarrow = Object.keys(within).length > 0;
  return [
    [
      !isFinal,
      `This month is still in progress.${isCompared ? ` It is compared with the previous month up to the same moment (${until}).` : ''}`,
    ],
    [visible !== null, 'Contains only projects of your teams.'],
    [
      (isLevelGroup(by) || isNarrow) && !isClosed,
      'Projects count for the team and organization that they are in now, and for the cost center that they have now. A project that moves takes the costs of its open months along.',
    ],
    [
      isNarrow && scope?.length === 0 && closed.size === 0,
      'There is no project in this team, organization or cost center.',
    ],
  ];
}

function closeNotes({ timeZone }: StatementQuestion, found: Found, { total }: Sums): readonly Note[] {
  const { closed, closedElsewhere, isClosed, otherZones, months } = found;
  const last = lastClosing(closed);
  const corrected = new Set(months.month.amounts.flatMap(({ correctionOf }) => correctionOf ?? []));
  return [
    [
      isClosed,
      `Closed on ${showInstant(last?.createdAtMs ?? 0).slice(0, 10)} by ${last?.closedBy}. These figures no longer change. Later corrections are in the first open month after it.`,
    ],
    [closed.size > 0 && !isClosed, 'Some projects have closed this month. Only figures of the others can change.'],
    [
      corrected.size > 0,
      `The cost contains corrections of closed months (${[...corrected].sort().join(', ')}): ${formatUsd(total.correctionsNanoUsd)} USD.`,
    ],
    [
      closedElsewhere.length > 0,
      'This month is closed, but statements by customer or label are not part of the close. They count the requests as they are now, so their total can differ from the closed statement.',
    ],
    [
      otherZones.length > 0,
      `This month is closed in ${otherZones.join(', ')}. In ${timeZone}, its figures can still change.`,
    ],
  ];
}

/** The newest closing of a statement's projects. */
export const lastClosing = (closed: Found['closed']) =>
  [...closed.values()].map(({ closing }) => closing).sort((a, b) => b.createdAtMs - a.createdAtMs)[0];

function sumNotes(
  { timeZone }: StatementQuestion,
  { months }: Found,
  { rows, total, dataFromMs }: Sums,
): readonly Note[] {
  const { attribution, isFinal, month, previous, compared } = months;
  const forecasts = rows.reduce((sum, { forecast }) => sum + (forecast?.expectedNanoUsd ?? 0), 0);
  return [
    [attribution === 'request', 'Grouped by the labels each request had when it was made.'],
    [
      attribution === 'current',
      'Single requests of these months are no longer stored, or are too many. Grouped by the labels that keys and projects have now.',
    ],
    [
      month.isRounded || previous?.isRounded === true,
      `Hourly data of a month's first or last day is no longer stored. That day is counted as a whole UTC day, not a day in ${timeZone}.`,
    ],
    [
      previous === null,
      'Single requests of the previous month are no longer stored, so there is nothing to compare with.',
    ],
    [
      dataFromMs !== null,
      `The first request is of ${showInstant(dataFromMs ?? 0).slice(0, 10)}, so ${(dataFromMs ?? 0) < compared.toMs ? 'the previous month has data only in part and is not compared' : 'there is nothing to compare with'}.`,
    ],
    [total.estimatedNanoUsd === null, 'How much of the cost was estimated is no longer known.'],
    [
      (total.estimatedNanoUsd ?? 0) > 0,
      'Estimated amounts are for requests whose usage the vendor did not report. They are part of the cost.',
    ],
    [
      total.savedVendorNanoUsd !== null && total.savedVendorNanoUsd !== 0,
      "Savings from vendors' prompt caches are calculated from their tokens at today's prices, minus the cost of writing to them.",
    ],
    [
      !isFinal && total.forecast !== null,
      'Forecast: the amount spent, plus for each remaining day the mean of the same weekday in the last four weeks. Range: eight of ten such forecasts in the last twelve weeks, or as many as are known, were off by no more.',
    ],
    [
      total.forecast !== null && forecasts !== 0 && forecasts !== total.forecast.expectedNanoUsd,
      'Rows are forecast one by one, so their forecasts may not add up to the total.',
    ],
    [timeZone !== 'UTC', 'Caps apply to UTC months.'],
  ];
}
