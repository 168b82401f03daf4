/** Escapes a text for LIKE, to match it anywhere. */
export const containsPattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
