import { describe, expect, test } from 'bun:test';
import { mergeSpans } from '../span';
import { findPhones, findPhonesOf } from './phone';

const german = findPhonesOf(['DE', 'ES']);
const found = (text: string, detector = german) =>
  mergeSpans(detector.find(text, true)).map(({ start, end }) => text.slice(start, end));

describe('numbers as they are written within a country', () => {
  test.each(['030 901820', '(030) 901820', '0151/23456789', '015123456789', '612 34 56 78', '+49 30 901820'])(
    '%p',
    (number) => {
      expect(found(`Ask ${number}, please`)).toEqual([number]);
    },
  );

  test('are none where nobody named the country', () => {
    expect(found('Ask 030 901820, please', findPhones)).toEqual([]);
    expect(found('Ask (212) 555-0147, please', findPhones)).toEqual(['(212) 555-0147']);
  });

  test('with digits alone only behind a word for it, where nothing is dialled ahead of them', () => {
    expect(found('order 612345678')).toEqual([]);
    expect(found('tel.: 612345678')).toEqual(['612345678']);
  });

  test.each(['2026-01-02 10', '2026-626189', '3.14159265', '0-415-17051-6', '02436-8', '0490686328619'])(
    '%p is none',
    (text) => {
      expect(found(`see ${text} there`)).toEqual([]);
    },
  );

  test('of an unknown country cannot be found', () => {
    expect(() => findPhonesOf(['XX'])).toThrow('"XX"');
    expect(() => findPhonesOf([])).toThrow('1 to 20');
  });
});
