// `bun make-template.ts <folder>`: an embedded Postgres, migrated and still empty, for tests that start many gateways to copy.
import { openDatabase } from '@llm0/drizzle/open-database';

const dataDir = process.argv[2];
if (dataDir === undefined) throw new Error('usage: make-template.ts <folder>');
const database = await openDatabase({ dataDir, onWarning: console.warn });
await database.close();
process.exit(0);
