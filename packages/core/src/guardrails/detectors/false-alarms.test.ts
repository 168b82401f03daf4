import { describe, expect, test } from 'bun:test';
import type { Detector } from '../span';
import { findEmails } from './email';
import { findIpAddresses } from './ip-address';
import { findNationalIds } from './national-id';

const found = (detector: Detector, text: string) =>
  detector.find(text, true).map(({ start, end }) => text.slice(start, end));

describe('look-alikes', () => {
  test('names in programs and numbers of sections are no addresses', () => {
    for (const text of ['a::b', 'A::B', 'dead::beef', 'std::a1', 'section 1.2.3.4', 'Version 10.0.0.1', '§ 1.2.3.4'])
      expect([text, found(findIpAddresses, text)]).toEqual([text, []]);
    for (const ip of ['::1', '2001:db8::1', 'fe80::1', '1:2:3:4:5:6:7:8', '10.0.0.1'])
      expect(found(findIpAddresses, `from ${ip} to`)).toEqual([ip]);
  });

  test('nine digits are a citizen’s number where something says so', () => {
    expect(found(findNationalIds, 'order 111222333, 123456782')).toEqual([]);
    expect(found(findNationalIds, 'BSN: 111222333')).toEqual(['111222333']);
    expect(found(findNationalIds, 'it is 1112.22.333')).toEqual(['1112.22.333']);
    expect(found(findNationalIds, '923.44051401359')).toEqual([]);
  });

  test('nine digits are a social security number by how they are grouped, or where something says so', () => {
    for (const text of [
      'my SSN is 536-22-8145.',
      'SSN: 536228145',
      'social security number 536228145',
      '(536 22 8145)',
    ])
      expect(found(findNationalIds, text)).toEqual([text.match(/[\d -]{9,}\d/)?.[0].trim() ?? '']);
    expect(found(findNationalIds, '536 22 8145, 457 55 5463 and 1')).toEqual(['536 22 8145', '457 55 5463']);
    const none = [
      ...[
        'order 536228145',
        '000-12-3456',
        '666-12-3456',
        '912-12-3456',
        '536-00-8145',
        '536-22-0145-1',
        '1-536-22-8145',
      ],
      ...['536-228145', 'a536-22-8145', '5536-22-8145', '536-22-81456', '3.536-22-8145'],
      ...['536 00 8145', '900 12 3456', '666 12 3456', '078 05 1120', '536 22 0000', '536-22-0000', '536  22 8145'],
      ...['12 536 22 8145', '536 22 8145 7', '536 22-8145', '536-22 8145', '+1 536 22 8145', '1,536 22 8145'],
    ];
    for (const text of none) expect([text, found(findNationalIds, text)]).toEqual([text, []]);
  });

  test('a repository is nobody’s address', () => {
    expect(found(findEmails, 'git clone git@github.com:a/b.git, ssh://git@example.com/a')).toEqual([]);
  });
});
