import type { Db } from '@llm0/drizzle/client';
import type { FileStoreSetting } from '../config/files';
import { type FileStore, openFileStore } from './file-store';
import { type OwnFileContent, type OwnFileQuestion, readOwnFile } from './read-own-file';

/** Rows and bytes of callers' files. */
export interface FileParts {
  readonly db: Db;
  readonly store: FileStore;
  readonly remove: (id: string) => Promise<void>;
  /** See `readOwnFile`. */
  readonly readOwn: (question: OwnFileQuestion) => Promise<OwnFileContent>;
}

export function createFileParts(db: Db, setting: FileStoreSetting): FileParts {
  const store = openFileStore(setting);
  return { db, store, remove: (id) => store.remove(id), readOwn: (question) => readOwnFile({ db, store }, question) };
}
