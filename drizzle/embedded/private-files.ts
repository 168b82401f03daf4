import fs from 'node:fs';

const OTHERS = 0o077;

/**
 * Whatever this process makes from now on is its user's alone. PGlite sets the rights of its files itself, to everybody's: what
 * it asks for is cut as well. To be called before anything is made.
 */
export function keepFilesPrivate(): void {
  process.umask(OTHERS);
  const { chmodSync, fchmodSync } = fs;
  fs.chmodSync = (path, mode) => chmodSync(path, Number(mode) & ~OTHERS);
  fs.fchmodSync = (file, mode) => fchmodSync(file, Number(mode) & ~OTHERS);
}
