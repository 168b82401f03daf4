import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, parse, resolve } from 'node:path';

/** Rights of group and others. */
const OTHERS = 0o077;
const OWNER_ONLY = 0o700;

const STICKY = 0o1000;

/**
 * Creates a private folder, or closes an open one with its files and warns. Throws for a folder of another user or
 * shared by all. Skips rights where the system has none.
 */
export function claimFolder(path: string, onWarning: (message: string) => void): void {
  mkdirSync(path, { recursive: true, mode: OWNER_ONLY });
  const user = process.getuid?.();
  const { uid, mode } = statSync(path);
  if (user === undefined || (mode & OTHERS) === 0) return;
  const rights = (mode & 0o7777).toString(8);
  const isShared = (mode & STICKY) !== 0 || resolve(path) === parse(resolve(path)).root;
  if (isShared || (uid !== user && user !== 0)) {
    throw new Error(
      `${path} belongs to ${isShared ? 'everybody' : `another user (uid ${uid})`} and is open to others (mode ${rights}). Set ` +
        'DATA_DIR to a folder in it, which is made then, or make it your own: chown it, and chmod 700.',
    );
  }
  chmodSync(path, OWNER_ONLY);
  for (const entry of readdirSync(path, { withFileTypes: true })) if (entry.isFile()) close(join(path, entry.name));
  onWarning(
    `${path} was open to other users (mode ${rights}): it and the files in it are closed to them now (mode 700)`,
  );
}

/** Closes a database of an earlier version, whose files were readable for others. */
export function closeDatabase(folder: string): void {
  const mark = statSync(join(folder, 'PG_VERSION'), { throwIfNoEntry: false });
  if (mark === undefined) return;
  close(folder);
  if ((mark.mode & OTHERS) === 0) return;
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true });
  // The mark is the last one: until then it is done again.
  for (const entry of paths) if (entry.name !== 'PG_VERSION') close(join(entry.parentPath, entry.name));
  for (const entry of paths) if (entry.name === 'PG_VERSION') close(join(entry.parentPath, entry.name));
}

function close(path: string): void {
  const { mode } = lstatSync(path);
  chmodSync(path, mode & OWNER_ONLY);
}

/**
 * Socket folder in the temporary directory, where others may have created the name. Unless it is this user's own
 * private folder, it uses a random name.
 */
export function socketFolder(name: string): { readonly path: string; readonly isNew: boolean } {
  const path = join(tmpdir(), name);
  try {
    mkdirSync(path, { mode: OWNER_ONLY });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    const found = lstatSync(path);
    const isOwn = process.getuid === undefined || found.uid === process.getuid();
    if (!found.isDirectory() || !isOwn || (found.mode & OTHERS) !== 0) {
      return { path: mkdtempSync(join(tmpdir(), 'llm0-')), isNew: true };
    }
  }
  return { path, isNew: false };
}
