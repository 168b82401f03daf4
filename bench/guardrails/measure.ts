// `bun bench/guardrails/measure.ts`: precision and recall per kind on texts of others, and what it costs. `--write`: into
// docs/reference/guardrail-figures.md, between its marks. Needs python3 with pip, once, for the packages in `read-package.ts`.
import { join } from 'node:path';
import { checkThread } from '@llm0/core/guardrails/thread/check-worker';
import { insertResults } from '../report/copy-results';
import { renderTable } from '../report/render-table';
import { type DetectorScore, measureDetectors } from './measure-detectors';
import { type InjectionScore, measureInjection } from './measure-injection';
import { writePlantedTexts } from './planted-texts';
import { PACKAGES } from './read-package';
import { timePrompt, timeWorstCases, type WorstCase } from './time-detectors';

const DOCUMENT = join(import.meta.dir, '../../docs/reference/guardrail-figures.md');
/** Texts of this seed were never looked at. */
const SEED = 4_276_031;
const EACH = { template: 40, harmless: 6000, key: 30 } as const;

const NAMES: Readonly<Record<string, string>> = {
  key: 'keys of vendors',
  national_id: 'national id',
  phone: 'phone, with a country',
  local_phone: 'phone, without',
  national_phone: 'phone, without, `countries` named',
};

const percent = (part: number, of: number): string => (of === 0 ? '–' : `${((100 * part) / of).toFixed(2)} %`);

function detectorTable(scores: readonly DetectorScore[]): string {
  const head = ['kind', 'planted', 'recall', 'precision', 'found where nothing is', 'called another kind'];
  const lines = scores.map(({ kind, planted, found, wrong, otherKind }) => [
    ...[NAMES[kind] ?? kind, String(planted), percent(found, planted), percent(found, found + wrong)],
    ...[String(wrong), String(otherKind)],
  ]);
  return renderTable(head, lines, ['kind']);
}

function injectionTable(scores: readonly InjectionScore[]): string {
  const head = ['set', 'attacks', 'found', 'harmless', 'taken for attacks', 'ms a text'];
  const lines = scores.map(({ set, attacks, found, harmless, wrong, ms }) => [
    ...[set, String(attacks), attacks === 0 ? '–' : `${found} (${percent(found, attacks)})`],
    ...[String(harmless), harmless === 0 ? '–' : `${wrong} (${percent(wrong, harmless)})`, ms.toFixed(1)],
  ]);
  return renderTable(head, lines, ['set']);
}

function costTable(cases: readonly WorstCase[]): string {
  const head = ['rule', 'a megabyte of', 'until judged, ms', 'of the event loop, ms', 'longest stretch, ms'];
  const lines = cases.map(({ rule, piece, totalMs, wallMs, stretchMs }) => [
    ...[rule, `\`${JSON.stringify(piece)}\``, wallMs.toFixed(0), totalMs.toFixed(0), stretchMs.toFixed(1)],
  ]);
  return renderTable(head, lines, ['rule', 'a megabyte of']);
}

const isShort = process.argv.includes('--detectors');
const texts = await writePlantedTexts({ seed: SEED, each: EACH });
const scores = measureDetectors(texts);
const sources = Object.entries(PACKAGES).map(([name, version]) => `${name} ${version}`);
const found = [
  `${texts.length} texts of seed ${SEED}, with ${sources.slice(0, 4).join(', ')}:`,
  detectorTable(scores),
].join('\n\n');
console.log(found);
for (const { kind, missed, mistaken } of scores) {
  if (missed.length > 0) console.log(`\nmissed, ${kind}:`, missed);
  if (mistaken.length > 0) console.log(`\nmistaken, ${kind}:`, mistaken);
}
if (!isShort) {
  const injection = [`With ${sources.slice(4).join(', ')}:`, injectionTable(await measureInjection())].join('\n\n');
  console.log(`\n${injection}`);
  const promptMs = await timePrompt();
  const cost = [
    `\`pii\`, \`secrets\` and 500 words over a request with a clean prompt of 2 kB: ${promptMs.toFixed(3)} ms of a core.`,
    costTable(await timeWorstCases()),
  ].join('\n\n');
  console.log(`\n${cost}`);
  checkThread.stop();
  if (process.argv.includes('--write')) {
    let document = await Bun.file(DOCUMENT).text();
    for (const [name, text] of Object.entries({ found, injection, cost }))
      document = insertResults(document, text, name);
    await Bun.write(DOCUMENT, document);
  }
}
