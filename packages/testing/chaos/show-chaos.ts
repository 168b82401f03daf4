import type { ChaosResult } from './run-chaos';

const SHOWN_IDS = 5;

/** The ledger of one run, for people. */
export function showChaosResult(result: ChaosResult): string {
  const { ledger } = result;
  const list = (counts: ReadonlyMap<string | number, number>) =>
    [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
  const ids = (all: readonly string[]) => (all.length === 0 ? '' : `  ${all.slice(0, SHOWN_IDS).join(', ')}`);
  return [
    `events      ${list(result.events)}`,
    `asked       ${result.asked} (${result.broken} cut or broken, ${result.unauthenticated} refused before auth)`,
    `answered    ${ledger.answered} (${list(new Map([...result.statuses].sort(([a], [b]) => a - b)))})`,
    `rows        ${ledger.rows}`,
    `missing     ${ledger.missing.length}${ids(ledger.missing)}`,
    `doubled     ${ledger.doubled.length}${ids(ledger.doubled)}`,
    `difference  ${ledger.differenceNanoUsd} nano-USD over ${ledger.months} project-months, roll-ups ${ledger.rollupDifferenceNanoUsd}`,
    `uneven budgets ${ledger.unevenBudgets.length}${ids(ledger.unevenBudgets)}`,
    `holds left  ${ledger.holds}, queued ${ledger.queued}`,
    `costs other than told ${ledger.costsChanged.length}${ids(ledger.costsChanged)}`,
    `crashes     ${result.crashes}`,
    result.isEven ? 'EVEN' : 'NOT EVEN',
    '',
  ].join('\n');
}

/** One line for each run, as a Markdown table. */
export function showChaosTable(results: readonly ChaosResult[]): string {
  const rows = results.map(({ seed, events, ledger, isEven }) => {
    const count = [...events.values()].reduce((sum, number) => sum + number, 0);
    const { answered, rows, missing, doubled, differenceNanoUsd, holds } = ledger;
    return [
      seed,
      count,
      answered,
      rows,
      missing.length,
      doubled.length,
      differenceNanoUsd,
      holds,
      isEven ? 'yes' : 'no',
    ];
  });
  const head = [
    'seed',
    'events',
    'answered',
    'rows',
    'missing',
    'doubled',
    'difference (nano-USD)',
    'holds left',
    'even',
  ];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
