import type { Db } from '@llm0/drizzle/client';
import type { FileStoreSetting } from '../config/files';
import { type FileStore, openFileStore } from './file-store';

/** Rows and bytes of callers' files. */
export interface FileParts {
  readonly db: Db;
  readonly store: FileStore;
  readonly remove: (id: string) => Promise<void>;
}

export function createFileParts(db: Db, setting: FileStoreSetting): FileParts {
  const store = openFileStore(setting);
  return { db, store, remove: (id) => store.remove(id) };
}
