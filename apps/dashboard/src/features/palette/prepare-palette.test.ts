import { expect, test } from 'bun:test';
import { type Command, findCommands, PAGE_COMMANDS, searchOf, toCustomers, withRecent } from './prepare-palette';

const command = (kind: Command['kind'], label: string, note?: string): Command => ({
  id: `${kind} ${label}`,
  kind,
  label,
  note,
});
const ALL = [
  command('page', 'Requests'),
  command('action', 'New key', 'in checkout'),
  command('project', 'checkout'),
  command('model', 'gpt-4o', 'openai'),
  command('model', 'gpt-4o', 'azure'),
];
const found = (typed: string, recent: readonly string[] = []) =>
  findCommands(ALL, typed, recent).map(({ label }) => label);

test('recent items come first, then pages and actions', () => {
  expect(found('')).toEqual(['Requests', 'New key']);
  expect(found('', ['model gpt-4o', 'action New key', 'gone'])).toEqual(['gpt-4o', 'New key', 'Requests']);
});

test('names, notes and parts of them are found', () => {
  expect(found('checkout')).toEqual(['checkout', 'New key']);
  expect(found('new key check')).toEqual(['New key']);
  expect(found('gpt azure')).toEqual(['gpt-4o']);
  expect(found('checkout', ['action New key'])).toEqual(['New key', 'checkout']);
});

test('models in use come first, then those of providers that are set up; other kinds keep their places', () => {
  const model = (label: string, note: string, use?: Command['use']): Command => ({
    ...command('model', label, note),
    ...{ id: `${note}/${label}`, use },
  });
  const unused = Array.from({ length: 40 }, (_, index) => model(`claude-${index}`, 'vertex'));
  const all = [
    ...[command('project', 'claude'), ...unused],
    ...[model('claude-sonnet-4-5', 'bedrock', 'ready'), model('claude-sonnet-4-5', 'anthropic', 'used')],
    command('alias', 'claude-sonnet'),
  ];
  const ids = findCommands(all, 'claude', []).map(({ id }) => id);
  const models = ids.filter((id) => id.includes('/'));
  expect(ids[0]).toBe('project claude');
  expect(ids).toHaveLength(30);
  expect(models.slice(0, 2)).toEqual(['anthropic/claude-sonnet-4-5', 'bedrock/claude-sonnet-4-5']);
  // The score of the words decides among equals.
  expect(models[2]).toBe('vertex/claude-0');
});

test('pages and tabs are found by what they show', () => {
  const first = (typed: string) => findCommands(PAGE_COMMANDS, typed, [])[0]?.label;
  const told = ['error', 'p95', 'sso', 'rotate', 'invite', 'slack', 'who changed', 'provider key', 'job', 'pii'];
  expect(told.map(first)).toEqual([
    ...['Overview', 'Latency', 'Sign-on', 'Projects & keys', 'Users', 'Alerts', 'Audit', 'Providers', 'Job runs'],
    'Guardrails',
  ]);
  // Letters in order are a guess, which words are too long for.
  expect(first('utc')).toBeUndefined();
});

test('a name that is just the text comes first', () => {
  const used: Command = { ...command('model', 'gpt-4o', 'openai'), use: 'used' };
  const all = [command('model', 'openai/gpt-oss', 'groq'), used, command('provider', 'openai', 'not set up')];
  expect(findCommands(all, 'OpenAI', []).map(({ label }) => label)).toEqual(['openai', 'gpt-4o', 'openai/gpt-oss']);
});

test('models that nobody uses come after all else that is found', () => {
  const all = [command('model', 'model-router', 'azure'), ...PAGE_COMMANDS];
  expect(findCommands(all, 'model', []).at(-1)?.label).toBe('model-router');
  expect(findCommands(all, 'model', [])[0]?.label).toBe('Models');
});

test('models that nobody uses leave room for all else', () => {
  const idle = Array.from({ length: 40 }, (_, index) => command('model', `global/gpt-${index}`, 'azure'));
  const shown = findCommands([...idle, command('customer', 'globex')], 'glob', []);
  expect(shown.map(({ kind }) => kind)).toContain('customer');
  expect(shown).toHaveLength(30);
});

test('budgets are found on the statement too', () => {
  const found = findCommands(PAGE_COMMANDS, 'budget', []).map(({ label }) => label);
  expect(found).toEqual(expect.arrayContaining(['Runs', 'Statement of a month']));
});

test('a customer of several projects is found once', () => {
  const found = [
    { project_id: 'a', customer_id: 'globex' },
    { project_id: 'b', customer_id: 'globex' },
    { project_id: 'a', customer_id: 'hooli' },
  ];
  expect(toCustomers(found, (id) => id.toUpperCase()).map(({ label, note, search }) => [label, note, search])).toEqual([
    ['globex', 'A, B', { open: 'globex' }],
    ['hooli', 'A', { open: 'hooli' }],
  ]);
});

test('the same thing is recent once', () => {
  expect(withRecent(['a', 'b'], 'b')).toEqual(['b', 'a']);
  expect(
    withRecent(
      Array.from({ length: 20 }, (_, n) => `${n}`),
      'x',
    ),
  ).toHaveLength(8);
});

test('a command takes no choices of the page before into its page', () => {
  const search = { open: 'k', by: 'provider' };
  expect(searchOf({ search })).toEqual({ tab: undefined, open: 'k' });
  expect(searchOf({})).toEqual({ tab: undefined, open: undefined });
  const filter = { status: ['error'], view: crypto.randomUUID() };
  expect(searchOf({ filter })).toEqual({ tab: undefined, open: undefined, ...filter });
});

test('a page is found by its name, its section and the names of earlier versions', () => {
  const first = (typed: string) => findCommands(PAGE_COMMANDS, typed, []).map(({ label }) => label)[0];
  expect(['spend', 'invoice', 'customers', 'audit', 'alerts', 'backends', 'access'].map(first)).toEqual([
    ...[
      'Spend & statements',
      'Statement of a month',
      'Customers',
      'Audit',
      'Alerts',
      'HTTP backends',
      'Access & system',
    ],
  ]);
  expect(findCommands(PAGE_COMMANDS, 'money', []).map(({ label }) => label)).toEqual(
    expect.arrayContaining(['Spend & statements', 'Statement of a month', 'Customers']),
  );
  expect(findCommands(PAGE_COMMANDS, 'settings', []).map(({ label }) => label)).toEqual(
    expect.arrayContaining(['Alerts', 'HTTP backends', 'Audit', 'Access & system']),
  );
  expect(new Set(PAGE_COMMANDS.map(({ id }) => id)).size).toBe(PAGE_COMMANDS.length);
});
