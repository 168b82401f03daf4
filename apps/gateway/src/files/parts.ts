import type { Db } from '@llm0/drizzle/client';
import type { FileStore } from './file-store';

/** Rows and bytes of callers' files. */
export interface FileParts {
  readonly db: Db;
  readonly store: FileStore;
}
