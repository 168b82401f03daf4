import { join } from 'node:path';
import { adminApiPage } from './admin-api';
import { cliPage } from './cli';
import { errorsPage } from './errors';
import { headersPage } from './headers';
import { metricsPage } from './metrics';
import { priceBookPage } from './price-book';
import { settingsPage } from './settings';
import type { ReferencePage } from './table';
import { tablesPage } from './tables';

const ROOT = join(import.meta.dir, '../../../..');
export const REFERENCE = join(ROOT, 'docs/reference');

/** The pages made from the code, by file name. */
export async function referencePages(): Promise<Readonly<Record<string, string>>> {
  const envExample = await Bun.file(join(ROOT, '.env.example')).text();
  const pages: Readonly<Record<string, ReferencePage>> = {
    'settings.md': settingsPage(envExample),
    'headers.md': headersPage(),
    'errors.md': errorsPage(),
    'admin-api.md': adminApiPage(),
    'cli.md': cliPage(),
    'tables.md': await tablesPage(),
    'metrics.md': await metricsPage(),
    'price-book.md': await priceBookPage(),
  };
  return Object.fromEntries(Object.entries(pages).map(([file, page]) => [file, render(page)]));
}

const render = ({ title, purpose, body }: ReferencePage): string =>
  `# ${title}\n\n${purpose}\n\n<!-- Made from the code by \`bun run docs\`. -->\n\n${body}\n`;
