import type { MatrixCell } from './matrix';

const PARTS: Readonly<Record<string, string>> = {
  system: 'system',
  user: 'user',
  assistant: 'assistant',
  tool_arguments: 'tool arguments',
  tool_results: 'tool results',
  reasoning: 'reasoning',
  refusal: 'refusal',
  unknown: 'unknown fields',
  descriptions: 'descriptions',
};
const LETTERS: Readonly<Record<string, string>> = { redact: 'R', block: 'B', pseudonymise: 'P' };

/** The cells as Markdown: a line for each route, vendor and way, a column for each part, the actions that were tried in it. */
export function renderMatrix(cells: readonly MatrixCell[]): string {
  const parts = Object.keys(PARTS).filter((part) => cells.some((cell) => cell.part === part));
  const others = cells.find(({ part }) => PARTS[part] === undefined);
  if (others !== undefined) throw new Error(`a part that the table does not know: ${others.part}`);
  const lines = Map.groupBy(cells, lineOf);
  const head = ['route', 'vendor', 'on', 'stream', ...parts.map((part) => PARTS[part] ?? part), 'tries', 'leaks'];
  const rows = [...lines].map(([line, own]) => [
    ...(JSON.parse(line) as string[]),
    ...parts.map((part) => lettersOf(own.filter((cell) => cell.part === part))),
    String(sumOf(own, 'tries')),
    String(sumOf(own, 'leaks')),
  ]);
  const row = (given: readonly string[]) => `| ${given.join(' | ')} |`;
  return [
    `${cells.length} cells, ${sumOf(cells, 'tries')} requests with planted secrets, ${sumOf(cells, 'leaks')} leaks.`,
    '',
    row(head),
    `|${head.map((name) => (name === 'tries' || name === 'leaks' ? '---:' : '---')).join('|')}|`,
    ...rows.map(row),
  ].join('\n');
}

const lineOf = ({ route, vendor, on, stream }: MatrixCell): string =>
  JSON.stringify([`\`${route}\``, vendor, on, stream ? 'yes' : 'no']);

const sumOf = (cells: readonly MatrixCell[], name: 'tries' | 'leaks'): number =>
  cells.reduce((sum, cell) => sum + cell[name], 0);

/** Bold where something leaked. */
function lettersOf(cells: readonly MatrixCell[]): string {
  const byAction = Map.groupBy(cells, ({ action }) => action);
  const letters = [...byAction].map(([action, own]) => {
    const letter = LETTERS[action] ?? action;
    return sumOf(own, 'leaks') > 0 ? `**${letter}!**` : letter;
  });
  return letters.length === 0 ? '–' : letters.sort().join(' ');
}

/** The document with `text` between the marks of that name. Throws where they are missing. */
export function placeBetweenMarks(document: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the document has no ${begin} … ${end}`);
  return `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`;
}
