/** The same for wordings that differ in case, blanks and the last mark only. */
export function hashQuestion(text: string): string {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[\s.?!]+$/, '');
  return Bun.CryptoHasher.hash('sha256', plain, 'hex');
}
