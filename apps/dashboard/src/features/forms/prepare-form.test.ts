import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { CUSTOMER_FIELDS } from '../customers/customer-fields';
import { KEY_FIELDS, NEW_KEY_FIELDS, PROJECT_FIELDS } from '../projects/field-specs';
import {
  describeFault,
  FieldError,
  type FieldSpec,
  fillForm,
  foldFields,
  isSet,
  readBack,
  readForm,
} from './prepare-form';

describe('forms', () => {
  test('empty is no limit; money stays the text it was', () => {
    const values = {
      ...fillForm(KEY_FIELDS, null),
      name: ' web ',
      budget_usd: '$1,000.000000001',
      allowed_models: 'a, b\nc',
      budget_period: 'month',
    };
    expect(readForm(KEY_FIELDS, values)).toEqual({
      name: 'web',
      rate_limit_per_minute: null,
      tokens_per_minute: null,
      max_concurrency: null,
      budget_usd: '1000.000000001',
      daily_budget_usd: null,
      default_run_budget_usd: null,
      max_run_budget_usd: null,
      weekly_budget_usd: null,
      budget_period: 'month',
      drop_params: null,
      failover: null,
      passthrough: null,
      allowed_tools: null,
      code_mode: null,
      labels: null,
      allowed_models: ['a', 'b', 'c'],
      allowed_providers: null,
      expires_at: null,
    });
  });

  test.each([
    [null, '', null],
    [[], 'none', []],
    [['openai', 'groq'], 'openai, groq', ['openai', 'groq']],
  ])('pass-through of a key: %j stands as %j', (stored, shown, sent) => {
    const values = fillForm(KEY_FIELDS, { name: 'k', budget_period: 'total', passthrough: stored });
    expect(values.passthrough).toBe(shown);
    expect(readForm(KEY_FIELDS, values).passthrough).toEqual(sent);
  });

  test.each([
    [null, '', null],
    [true, 'true', true],
    [false, 'false', false],
  ])('a flag of three states: %p stands as %j', (stored, shown, sent) => {
    const values = fillForm(KEY_FIELDS, { name: 'k', budget_period: 'total', drop_params: stored });
    expect(values.drop_params).toBe(shown);
    expect(readForm(KEY_FIELDS, values).drop_params).toBe(sent);
  });

  test.each([
    ['name', ''],
    ['budget_usd', '1e3'],
    ['budget_usd', '0.0000000001'],
    ['budget_usd', '-1'],
    ['budget_usd', '1,50'],
    ['budget_usd', '1,500'],
    ['budget_usd', '1.500,00'],
    ['budget_usd', '1,2,3'],
    ['budget_usd', '1 500'],
    ['rate_limit_per_minute', '1.5'],
    ['expires_at', 'soon'],
  ])('%s = %p is refused at its field', (name, value) => {
    const values = { ...fillForm(KEY_FIELDS, { name: 'k', budget_period: 'total' }), [name]: value };
    try {
      readForm(KEY_FIELDS, values);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(FieldError);
      expect((error as FieldError).field).toBe(name);
    }
  });

  test('saving an unchanged form changes nothing', () => {
    const usd = fc.option(
      fc.integer({ min: 0, max: 9e15 }).map((nano) => nano / 1e9),
      { nil: null },
    );
    const count = fc.option(fc.integer({ min: 1, max: 2_000_000_000 }), { nil: null });
    fc.assert(
      fc.property(usd, usd, count, (daily, monthly, perMinute) => {
        const limits = {
          daily_spend_limit_usd: daily,
          monthly_spend_limit_usd: monthly,
          requests_per_minute: perMinute,
          on_limit_behavior: 'warn',
        };
        const body = readForm(CUSTOMER_FIELDS, fillForm(CUSTOMER_FIELDS, limits));
        expect(body.requests_per_minute).toBe(perMinute);
        for (const name of ['daily_spend_limit_usd', 'monthly_spend_limit_usd'] as const) {
          const given = limits[name];
          if (given === null) expect(body[name]).toBeNull();
          else expect(Number(body[name])).toBeCloseTo(given, 9);
        }
      }),
    );
  });

  test('flags are flags', () => {
    const body = readForm(
      PROJECT_FIELDS,
      fillForm(PROJECT_FIELDS, { name: 'p', strict_caps: true, on_store_failure: 'open' }),
    );
    expect(body).toMatchObject({
      strict_caps: true,
      cache_enabled: false,
      on_store_failure: 'open',
      monthly_cap_usd: null,
    });
  });

  test('an instant is typed by the clock of the browser, and said in UTC', () => {
    const spec = { name: 'until', label: 'Until', kind: 'instant' } as const;
    const values = fillForm([spec], { until: '2026-03-01T14:05:00.000Z' });
    expect(readBack(spec, values)).toBe('2026-03-01 14:05:00 UTC, which has passed');
    const later = fillForm([spec], { until: '2099-03-01T14:05:00.000Z' });
    expect(readBack(spec, later)).toBe('2099-03-01 14:05:00 UTC');
    expect(readBack(spec, { until: '' })).toBeNull();
    expect(readBack(spec, { until: 'soon' })).toBeNull();
  });

  test('a new key may not begin expired; one that expired can still be changed', () => {
    const past = { name: 'k', budget_period: 'total', expires_at: '2026-03-01T14:05' };
    const read = (specs: readonly FieldSpec[]) => readForm(specs, { ...fillForm(specs, null), ...past });
    expect(() => read(NEW_KEY_FIELDS)).toThrow('must be in the future');
    expect(read(KEY_FIELDS).expires_at).toStartWith('2026-03-01T');
  });
});

describe('rarely used fields', () => {
  const namesOf = (specs: readonly { readonly name: string }[]) => specs.map(({ name }) => name);

  test('a key asks for name, limits and budget; everything else is under "More", all of it when it is alone', () => {
    const { main, more } = foldFields(KEY_FIELDS);
    expect(namesOf(main).slice(0, 3)).toEqual(['name', 'rate_limit_per_minute', 'tokens_per_minute']);
    expect(namesOf(main)).toEqual(expect.arrayContaining(['max_concurrency', 'budget_usd', 'budget_period']));
    expect(namesOf(more)).toEqual([
      ...[
        'allowed_models',
        'allowed_providers',
        'drop_params',
        'failover',
        'passthrough',
        'allowed_tools',
        'code_mode',
      ],
      ...['labels', 'expires_at'],
    ]);
    expect(foldFields(more)).toEqual({ main: more, more: [] });
    expect(foldFields([])).toEqual({ main: [], more: [] });
  });

  test('a field is set if it has a value that differs from none', () => {
    const { more } = foldFields(KEY_FIELDS);
    const set = (key: object) => namesOf(more.filter((spec) => isSet(spec, fillForm(KEY_FIELDS, key))));
    expect(set({ name: 'k', budget_usd: 1, labels: null })).toEqual([]);
    expect(set({ failover: 'off', labels: { team: 'a' }, drop_params: false, passthrough: [] })).toEqual([
      ...['drop_params', 'failover', 'passthrough', 'labels'],
    ]);
    const flag = { name: 'on', label: 'On', kind: 'flag' } as const;
    expect([isSet(flag, { on: true }), isSet(flag, { on: false })]).toEqual([true, false]);
  });
});

test('a limit of zero is refused before it is sent, but for the number of customers', () => {
  const limit = [{ name: 'rate_limit_per_minute', label: 'Requests per minute', kind: 'integer' }] as const;
  const read = (text: string) => readForm(limit, { rate_limit_per_minute: text });
  for (const zero of ['0', '00', '-1']) expect(() => read(zero)).toThrow('must be 1 or more');
  expect(read('10')).toEqual({ rate_limit_per_minute: 10 });
  const customers = PROJECT_FIELDS.filter(({ name }) => name === 'max_customers');
  expect(readForm(customers, { max_customers: '0' })).toEqual({ max_customers: 0 });
});

test('a fault names its field without its unit; a whole sentence stays', () => {
  expect([
    describeFault('Alias', 'must be 1 to 32 lower-case letters, digits and hyphens.'),
    describeFault('Latency, ms', 'must be 1 or more'),
    describeFault('Budget', 'budget_usd must be above the present budget.'),
    describeFault('Targets', 'Row 2: choose a model'),
  ]).toEqual([
    'Alias must be 1 to 32 lower-case letters, digits and hyphens.',
    'Latency must be 1 or more.',
    'Budget must be above the present budget.',
    'Row 2: choose a model',
  ]);
});
