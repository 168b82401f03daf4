import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { CapForecast, Statement } from '../../api/finance';
import { filterOf } from '../spend/prepare-spend';
import { outlookOf } from './cap-outlook';
import { readFinanceSearch } from './finance-search';
import { formatFixed, toNano } from './format-fixed';
import {
  closableScope,
  comparedName,
  decimalsFor,
  describeFilters,
  describeMonth,
  describeSaved,
  drawnChange,
  drawnSaved,
  formatDifference,
  formatPercent,
  monthName,
  monthOf,
  monthOptions,
  nameOfRow,
  noChangeReason,
  roundingDifference,
  shiftMonth,
  statementOf,
  toStatementQuery,
} from './prepare-finance';

test('a running month names the hour until which it is compared, in its time zone', () => {
  const compared_with = { month: '2026-10', from: '2026-10-01T00:00:00Z', to: '2026-10-26T10:00:00Z', data_from: null };
  const name = (time_zone: string, is_final: boolean) => comparedName({ compared_with, time_zone, is_final });
  expect(name('UTC', false)).toBe('October 2026, until Oct 26 10:00');
  expect(name('Asia/Kolkata', false)).toBe('October 2026, until Oct 26 15:30');
  expect(name('UTC', true)).toBe('October 2026');
});

test('rows of projects have names that differ; others keep those of the statement', () => {
  const projects = new Map([['p1', 'Live site (bfff9a21)']]);
  const named = (by: string, group: string) => nameOfRow(by, { group, name: 'Live site' }, projects);
  expect([named('project', 'p1'), named('project', 'gone'), named('model', 'p1')]).toEqual([
    ...['Live site (bfff9a21)', 'Live site', 'Live site'],
  ]);
});

describe('amounts', () => {
  test.each([
    [1234.5, 2, '1,234.50'],
    [0.005, 2, '0.01'],
    [0.0049999, 2, '0.00'],
    [-0.005, 2, '−0.01'],
    [1e-9, 9, '0.000000001'],
    [1e-9, 2, '0.00'],
    [8_000_000.123456789, 9, '8,000,000.123456789'],
    [0, 4, '0.0000'],
    [null, 2, '–'],
  ])('%p with %i decimals is %s', (usd, decimals, text) => {
    expect(formatFixed(usd, decimals)).toBe(text);
  });

  test('any amount up to millions is read to the nano-dollar', () => {
    fc.assert(
      fc.property(fc.integer({ min: -8_000_000_000_000_000, max: 8_000_000_000_000_000 }), (nano) => {
        const digits = String(Math.abs(nano)).padStart(10, '0');
        const written = `${nano < 0 ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
        expect(toNano(JSON.parse(written))).toBe(BigInt(nano));
      }),
    );
  });

  test('rows and total as drawn add up, or the difference is named', () => {
    expect(roundingDifference([0.004, 0.004, 0.004], 0.012, 2)).toBe('+0.01');
    expect(roundingDifference([0.005, 0.005], 0.01, 2)).toBe('−0.01');
    expect(roundingDifference([0.1, 0.2], 0.3, 2)).toBeNull();
    expect(roundingDifference([0.1, null], 0.1, 2)).toBeNull();
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 10_000_000_000 })),
        fc.constantFrom(2, 4, 9),
        (nanos, decimals) => {
          const rows = nanos.map((nano) => nano / 1e9);
          const total = nanos.reduce((sum, nano) => sum + nano, 0) / 1e9;
          const cents = (text: string) => BigInt(text.replace('−', '-').replace(/[+.,]/g, ''));
          const drawn = rows.reduce((sum, usd) => sum + cents(formatFixed(usd, decimals)), 0n);
          const difference = roundingDifference(rows, total, decimals);
          expect(drawn + (difference === null ? 0n : cents(difference))).toBe(cents(formatFixed(total, decimals)));
        },
      ),
    );
  });

  test('decimals fit the total, or the chosen number', () => {
    expect([0, 1234, 10, 9.99, 0.1, 0.05].map((total) => decimalsFor(undefined, total))).toEqual([2, 2, 2, 4, 4, 9]);
    expect(decimalsFor('4', 1234)).toBe(4);
  });

  test('changes: with their sign, new things are new', () => {
    const percent = (change_percent: number | null, is_new = false) => formatPercent({ change_percent, is_new });
    expect([percent(12.34), percent(-100), percent(0), percent(null), percent(null, true), percent(9999)]).toEqual([
      ...['+12.3 %', '−100.0 %', '±0.0 %', '–', 'new', '+9,999.0 %'],
    ]);
    expect([
      formatDifference(1.5, 2),
      formatDifference(-1.5, 2),
      formatDifference(0, 2),
      formatDifference(null, 2),
    ]).toEqual(['+1.50', '−1.50', '0.00', '–']);
  });
});

describe('months', () => {
  test('are those of the zone', () => {
    const at = Date.parse('2026-10-31T23:30:00Z');
    expect(['UTC', 'Europe/Berlin', 'America/Los_Angeles', 'Asia/Tokyo'].map((zone) => monthOf(at, zone))).toEqual([
      ...['2026-10', '2026-11', '2026-10', '2026-11'],
    ]);
    expect([shiftMonth('2026-01', -1), monthName('2026-10')]).toEqual(['2025-12', 'October 2026']);
  });

  test('to choose from: two years, the running one says so, and an older one that the address asks for', () => {
    const options = monthOptions('2026-11', '2020-02');
    expect(options[0]).toEqual(['2026-11', 'November 2026 (so far)']);
    expect([options.length, options.at(-1)]).toEqual([25, ['2020-02', 'February 2020']]);
  });
});

describe('filters of the address', () => {
  test('invalid values are dropped', () => {
    expect(readFinanceSearch({ month: '2026-13', by: 'weather', decimals: '3', label: 'x', model: '' })).toEqual({});
    const all = { month: '2026-10', by: 'label.cost-center', decimals: '4', label: 'env=prod', model: 'm' } as const;
    expect(readFinanceSearch({ ...all, more: 1 })).toEqual(all);
  });

  test('goes to the API by its names', () => {
    expect(toStatementQuery({ timeZone: 'UTC', projectId: undefined })).toEqual({ time_zone: 'UTC', by: 'project' });
    const asked = { month: '2026-10', by: 'key', label: 'Team=a=b', timeZone: 'Asia/Tokyo', projectId: 'p' };
    expect(toStatementQuery(asked)).toEqual({
      ...{ month: '2026-10', time_zone: 'Asia/Tokyo', by: 'key', project_id: 'p', 'label.team': 'a=b' },
    });
  });

  test('a month is closed for a level or for everything, never for a part of a statement', () => {
    const team_id = crypto.randomUUID();
    const organization_id = crypto.randomUUID();
    const none = { projectId: undefined };
    expect([none, { ...none, team_id, by: 'key' }, { ...none, organization_id }].map(closableScope)).toEqual([
      ...[{}, { team_id }, { organization_id }],
    ]);
    for (const filter of ['model', 'provider', 'customer_id', 'cost_center', 'label', 'projectId'])
      expect([filter, closableScope({ ...none, team_id, [filter]: 'x' })]).toEqual([filter, null]);
    expect(statementOf('cost_center', '47')).toEqual({ by: 'project', cost_center: '47' });
    expect(toStatementQuery({ cost_center: '47', timeZone: 'UTC', ...none })).toMatchObject({ cost_center: '47' });
  });

  test('a team leads to its projects, an organization to its teams', () => {
    expect([statementOf('team', 't'), statementOf('organization', 'o'), statementOf('team', '')]).toEqual([
      { by: 'project', team_id: 't' },
      { by: 'team', organization_id: 'o' },
      undefined,
    ]);
    const team_id = crypto.randomUUID();
    expect(readFinanceSearch({ team_id, organization_id: 'x' })).toEqual({ team_id });
    expect(toStatementQuery({ team_id, timeZone: 'UTC', projectId: undefined })).toMatchObject({ team_id });
    expect(describeFilters({ team_id }, String, () => 'Search')).toBe('Team Search');
  });

  test('a row leads to its requests', () => {
    expect([
      filterOf('key', 'k'),
      filterOf('label.team', 'ads'),
      filterOf('project', 'p'),
      filterOf('model', ''),
    ]).toEqual([{ api_key_id: 'k' }, { label: 'team=ads' }, { project: 'p' }, {}]);
  });
});

test('forecast of a cap', () => {
  const cap = (given: Partial<CapForecast>): CapForecast => ({
    ...{ scope: 'project', project_id: 'p', project_name: 'p', id: 'p', name: 'p', cap_usd: 100, spent_usd: 50 },
    ...{ forecast: { expected_usd: 90, low_usd: 80, high_usd: 95 }, reached_on: null, could_reach_on: null },
    ...given,
  });
  const text = (given: Partial<CapForecast>, isFinal = false) => outlookOf(cap(given), isFinal).text;
  expect([
    text({}),
    text({ reached_on: '2026-11-28' }),
    text({ could_reach_on: '2026-11-30' }),
    text({ spent_usd: 100, reached_on: '2026-11-20' }),
    text({ forecast: null }),
    text({}, true),
  ]).toEqual([
    'Expected to last',
    'Expected to run out on Nov 28',
    'Expected to last, but could run out on Nov 30',
    'Used up on Nov 20',
    'No forecast yet',
    'Not reached',
  ]);
});

test('a cap without a forecast is neither good nor bad', () => {
  const cap = { spent_usd: 5, cap_usd: 100, forecast: null, reached_on: null, could_reach_on: null } as CapForecast;
  expect(outlookOf(cap, false)).toEqual({ text: 'No forecast yet', tone: 'neutral' });
});

test('the project page says what the finance page says about the same cap', () => {
  const forecast = { expected_usd: 120, low_usd: null, high_usd: null };
  const cap = { scope: 'project', id: 'p', spent_usd: 50, cap_usd: 100, forecast, reached_on: '2026-11-28' };
  const statement = { caps: [cap], total: { cost_usd: 50, forecast } } as unknown as Statement;
  expect(describeMonth(statement, { id: 'p', monthly_cap_usd: 100 })).toBe(
    '$50.00 spent, forecast $120.00. Expected to run out on Nov 28.',
  );
  expect(describeMonth({ ...statement, caps: [] }, { id: 'p', monthly_cap_usd: null })).toBe(
    '$50.00 spent, forecast $120.00. No cap is set.',
  );
  const october = { ...statement, is_final: true, caps: [{ ...cap, reached_on: null }] } as unknown as Statement;
  expect(describeMonth(october, { id: 'p', monthly_cap_usd: 7 })).toBe('$50.00 spent, forecast $120.00. Not reached.');
  expect(describeMonth({ ...statement, caps: [] }, undefined)).toBe(
    '$50.00 spent, forecast $120.00. Choose a project to see its cap.',
  );
});

test('filters of a statement name projects instead of their IDs', () => {
  const filters = { project_id: 'b1d2', model: 'gpt-4o', 'label.team': 'web' };
  expect(describeFilters(filters, (id) => (id === 'b1d2' ? 'Search' : id))).toBe(
    'Project Search, Model gpt-4o, Label team web',
  );
  expect(describeFilters({}, (id) => id)).toBe('none');
});

test('a month before without data differs from one with data in part', () => {
  const reasonFrom = (dataFrom: string | null) =>
    noChangeReason({ compared_with: { data_from: dataFrom, to: '2026-10-01T00:00:00Z' } });
  expect(reasonFrom('2026-10-19T00:00:00Z')).toBe('No change: that time has no data');
  expect(reasonFrom('2026-09-19T00:00:00Z')).toBe('No change: not all of that time has data');
  expect(reasonFrom(null)).toBe('No change: not all of that time has data');
});

test('savings by prompt caches stand beside those by the cache, and are no part of them', () => {
  const total = { saved_exact_usd: 7.04, saved_semantic_usd: 1.75, saved_vendor_usd: 3.67 };
  expect(describeSaved(total, 2)).toEqual([
    'Of which exact 7.04 · semantic 1.75',
    'Besides: saved by prompt caches 3.67',
  ]);
  // 9.505 is drawn as 9.51, so 7.604 and 1.901 are not 7.60 and 1.90.
  expect(describeSaved({ ...total, saved_exact_usd: 7.604, saved_semantic_usd: 1.901 }, 2)[0]).toBe(
    'Of which exact 7.61 · semantic 1.90',
  );
  expect(describeSaved({ ...total, saved_exact_usd: null, saved_vendor_usd: null }, 2)).toEqual([
    'By customer, savings by prompt caches are not known',
  ]);
});

test('parts of the savings by the cache add up to them, in cards and tables', () => {
  const total = { saved_exact_usd: 7.604, saved_semantic_usd: 1.901 };
  expect(drawnSaved(total, 2)).toEqual({ exact: 7.61, semantic: 1.9 });
  expect(drawnSaved(total, 4)).toEqual({ exact: 7.604, semantic: 1.901 });
  expect(drawnSaved({ saved_exact_usd: null, saved_semantic_usd: null }, 2)).toBeNull();
});

test('a change is that of the amounts as they are drawn', () => {
  expect(drawnChange({ cost_usd: 20.8649, previous_usd: 15.8751 }, 2)).toBe(4.98);
  expect(drawnChange({ cost_usd: 20.8649, previous_usd: 15.8751 }, 4)).toBe(4.9898);
  expect(drawnChange({ cost_usd: 1, previous_usd: null }, 2)).toBeNull();
});
