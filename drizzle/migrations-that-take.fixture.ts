/** Incompatible changes for an older release. Constraints of values and `NOT NULL` may be loosened. */
const TAKING = [
  /\bDROP\s+(?!NOT\s+NULL\b|CONSTRAINT\s+(?:IF\s+EXISTS\s+)?\w+_check\b)(?:[A-Z]+\s+)?[\w"]+/gi,
  /\bRENAME\b/gi,
  /\bALTER\s+(?:COLUMN\s+)?[\w"]+\s+(?:SET\s+DATA\s+)?TYPE\b/gi,
  /\bSET\s+NOT\s+NULL\b/gi,
  /\bADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?(?!CONSTRAINT\b)[\w"]+\s+[^,;]*\bNOT\s+NULL\b(?![^,;]*\bDEFAULT\b)/gi,
  /\bTRUNCATE\b/gi,
  /\bDELETE\s+FROM\b/gi,
];

/** A statement on such a line takes what no release from there on uses. */
const UNUSED_SINCE = /--\s*unused since (\d+\.\d+\.\d+)\s*$/;

/** What a migration takes from the release before it. `releases`: the versions that are out. */
export function takenBy(sql: string, releases: readonly string[]): string[] {
  const kept = sql.split('\n').filter((line) => !releases.includes(UNUSED_SINCE.exec(line)?.[1] ?? ''));
  const code = kept
    .map((line) => line.replace(/--.*$/, ''))
    .join('\n')
    .replace(/\bON\s+COMMIT\s+DROP\b/gi, '');
  return TAKING.flatMap((pattern) => [...code.matchAll(pattern)].map(([found]) => found.replace(/\s+/g, ' ')));
}
