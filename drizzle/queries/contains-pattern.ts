/** What LIKE finds a text by that stands anywhere, whatever signs are in it. */
export const containsPattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
