import fs from 'node:fs';

const OTHERS = 0o077;

/**
 * Makes every new file private to its user. PGlite chmods its files for everybody; this restricts that as well. Call it
 * before creating files.
 */
export function keepFilesPrivate(): void {
  process.umask(OTHERS);
  const { chmodSync, fchmodSync } = fs;
  fs.chmodSync = (path, mode) => chmodSync(path, Number(mode) & ~OTHERS);
  fs.fchmodSync = (file, mode) => fchmodSync(file, Number(mode) & ~OTHERS);
}
