const HEX = /^[0-9a-f]{32}$/;
const DASHED = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

/** Ids of files and batches as callers see them: a word, then the row's UUID without dashes. */
export const PREFIXES = { file: 'file-', batch: 'batch_', messageBatch: 'msgbatch_' } as const;
type Prefix = (typeof PREFIXES)[keyof typeof PREFIXES];

export const showId = (prefix: Prefix, id: string): string => `${prefix}${id.replaceAll('-', '')}`;

/** undefined for any other text. */
export function readId(prefix: Prefix, shown: string): string | undefined {
  const hex = shown.slice(prefix.length);
  if (!shown.startsWith(prefix) || !HEX.test(hex)) return undefined;
  return hex.replace(DASHED, '$1-$2-$3-$4-$5');
}
