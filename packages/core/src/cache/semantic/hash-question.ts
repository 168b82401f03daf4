import { withoutEnd } from '../../text/without-end';

/** Equal for wordings that differ in case, blanks and the last mark only. */
export function hashQuestion(text: string): string {
  const plain = withoutEnd(text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' '), /[\s.?!]/);
  return Bun.CryptoHasher.hash('sha256', plain, 'hex');
}
