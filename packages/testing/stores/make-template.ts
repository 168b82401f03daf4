// `bun make-template.ts <folder or postgres:// address>`: a database, migrated and still empty, for tests to copy.
import { openDatabase } from '@llm0/drizzle/open-database';

const where = process.argv[2];
if (where === undefined) throw new Error('usage: make-template.ts <folder or postgres:// address>');
const isServer = where.startsWith('postgres://');
const database = await openDatabase({
  ...(isServer ? { databaseUrl: where, dataDir: '/nonexistent' } : { dataDir: where }),
  onWarning: console.warn,
});
await database.close();
process.exit(0);
