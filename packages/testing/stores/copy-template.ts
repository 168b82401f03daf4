import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';

/** Spares an embedded Postgres its very first start's migrations, where the test command made them before. */
export async function copyTemplate(dataDir: string): Promise<void> {
  const template = process.env.TEST_EMBEDDED_TEMPLATE;
  const database = join(dataDir, 'postgres');
  if (template === undefined || template === '' || existsSync(database)) return;
  await cp(join(template, 'postgres'), database, { recursive: true });
}
