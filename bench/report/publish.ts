import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { renderChart } from './render-chart';
import { type Report, renderMarkdown } from './render-markdown';

const RESULTS = join(import.meta.dir, '../results/local');
export const LATEST_MARKDOWN = join(RESULTS, 'latest.md');

/** Prints the report and writes it to `bench/results/local`: Markdown, JSON with every trial, and a chart. */
export async function publish(report: Report): Promise<void> {
  const markdown = renderMarkdown(report);
  await mkdir(RESULTS, { recursive: true });
  await Bun.write(LATEST_MARKDOWN, markdown);
  await Bun.write(join(RESULTS, 'latest.json'), JSON.stringify(report, null, 1));
  const { cpu, cores, date } = report.machine;
  await Bun.write(
    join(RESULTS, 'latest.svg'),
    renderChart(report.rows, `Requests per second, ${cpu}, ${cores} cores, ${date}`),
  );
  console.log(markdown);
}
