import { type Row, throughputOf } from './rows';

const BAR_HEIGHT = 16;
const GROUP_GAP = 14;
const LABEL_WIDTH = 250;
const BAR_WIDTH = 520;
const VALUE_WIDTH = 150;
const TITLE_HEIGHT = 34;
const COLOURS = ['#8a94a6', '#b8bfca', '#2563eb', '#d97706', '#059669', '#9333ea'] as const;
const FONT = 'font-family="system-ui, sans-serif" font-size="12"';

/** Throughput by scenario and target as horizontal bars, each group on a scale of its own; rows at fixed rates are left out. */
export function renderChart(rows: readonly Row[], title: string): string {
  const measured = rows.filter((row) => row.rate === undefined && Number.isFinite(throughputOf(row)));
  const targets = [...new Set(measured.map(({ target }) => target))];
  const groups = [...new Set(measured.map(groupOf))];
  const width = LABEL_WIDTH + BAR_WIDTH + VALUE_WIDTH;
  const parts: string[] = [];
  let y = TITLE_HEIGHT;
  for (const group of groups) {
    const bars = measured.filter((row) => groupOf(row) === group);
    const most = Math.max(...bars.map(throughputOf));
    parts.push(`<text x="8" y="${y + 12}" ${FONT} font-weight="600">${escapeXml(group)}</text>`);
    for (const row of bars) {
      parts.push(renderBar(row, y, most, COLOURS[targets.indexOf(row.target) % COLOURS.length] ?? COLOURS[0]));
      y += BAR_HEIGHT;
    }
    y += GROUP_GAP;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${width}" height="${y}" fill="#ffffff"/>`,
    `<text x="8" y="20" ${FONT} font-weight="700">${escapeXml(title)}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

const groupOf = ({ scenario, connections }: Row) => `${scenario}, ${connections} connections`;

function renderBar(row: Row, y: number, most: number, colour: string): string {
  const value = throughputOf(row);
  const length = Math.max(1, Math.round((value / most) * BAR_WIDTH));
  const text = `${row.target}: ${Math.round(value).toLocaleString('en')}/s`;
  return [
    `<rect x="${LABEL_WIDTH}" y="${y}" width="${length}" height="${BAR_HEIGHT - 3}" fill="${colour}"/>`,
    `<text x="${LABEL_WIDTH + length + 6}" y="${y + 11}" ${FONT} font-size="11">${escapeXml(text)}</text>`,
  ].join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeXml = (text: string) => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
