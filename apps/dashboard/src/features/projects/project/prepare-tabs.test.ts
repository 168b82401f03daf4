import { describe, expect, test } from 'bun:test';
import { tidied } from '../../../range/page-search';
import { PROJECT_FIELDS } from '../field-specs';
import { CACHING_FIELDS, DANGER_FIELDS, LIMIT_FIELDS, PROFILE_FIELDS } from './prepare-tabs';
import { readProjectSearch } from './project-search';

const namesOf = (fields: readonly { readonly name: string }[]) => fields.map(({ name }) => name);

describe('settings of a project', () => {
  test('each field is on one tab, none is lost', () => {
    const all = [PROFILE_FIELDS, CACHING_FIELDS, LIMIT_FIELDS, DANGER_FIELDS].flatMap(namesOf);
    expect(all.toSorted()).toEqual(namesOf(PROJECT_FIELDS).toSorted());
  });

  test('money comes first among the limits; fields of a section stand together', () => {
    expect(LIMIT_FIELDS[0]?.name).toBe('monthly_cap_usd');
    const sections = LIMIT_FIELDS.map(({ section = '' }) => section);
    const starts = sections.filter((section, index) => section !== sections[index - 1]);
    expect(starts).toEqual(['', 'What its keys may use', 'When something fails or is missing']);
    expect(CACHING_FIELDS.every(({ section }) => section === undefined)).toBe(true);
  });
});

describe('the address of a project', () => {
  test.each([
    [{}, {}],
    [{ tab: 'usage' }, {}],
    [{ tab: 'nothing' }, {}],
    [{ tab: 'limits' }, { tab: 'limits' }],
    [{ open: 'new' }, { tab: 'keys', open: 'new' }],
    [
      { open: 'a rule', tab: 'guardrails' },
      { open: 'a rule', tab: 'guardrails' },
    ],
    [{ open: '' }, {}],
  ] as const)('%j opens %j', (search, found) => expect(tidied(readProjectSearch)(search)).toEqual(found));
});
