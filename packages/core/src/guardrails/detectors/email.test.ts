import { describe, expect, test } from 'bun:test';
import { foldText } from '../folded-text';
import { findEmails } from './email';

const found = (text: string) => {
  const folded = foldText(text, 'width');
  return findEmails
    .find(folded.text, true)
    .map(({ start, end }) => text.slice(folded.originOf(start), folded.endOf(end)));
};
const E = 'alice.smith@example.com';

describe('addresses', () => {
  test('in links, however long, without the link', () => {
    const links = [
      ...['https://app.example.com/accounts/settings/profile/edit?redirect=/home&lang=en&email=', 'https://a.io/?e='],
      ...[`uid=1000&session=${'ab1'.repeat(30)}&user=`, `https://a.io/${'x'.repeat(70)}/`, 'mailto:'],
    ];
    for (const link of links) expect(found(`${link}${E}&x=1`)).toEqual([E]);
  });

  test('behind what is too long for a name', () => {
    const [only = ''] = found(`${'ab-'.repeat(40)}${E}`);
    expect(only.endsWith(E)).toBe(true);
    expect(found('bounce+ann=example.org@lists.example.com')).toEqual(['bounce+ann=example.org@lists.example.com']);
  });

  test('of other alphabets, with marks and invisible characters', () => {
    for (const one of ['a@münchen.de', 'a@пример.рф', 'иван@пример.рф', 'josé@example.com', 'a@例子.中国'])
      expect(found(`to ${one}, now`)).toEqual([one]);
    for (const one of ['alic\u0301e@example.com', 'ali\u0000ce@exa\u0000mple.com', 'ali\u200bce@exa\u0301mple.com'])
      expect(found(`to ${one}, now`)).toEqual([one]);
    expect(found(`联系${E}谢谢`)).toEqual([E]);
    expect(found(`от ${E}и`)).toEqual([E]);
  });

  test('not what only has the mark', () => {
    expect(found('a @ b, @ann, a@b, x@.com, https://a.io/@ann, \u0301@, a@b..com')).toEqual([]);
  });
});
