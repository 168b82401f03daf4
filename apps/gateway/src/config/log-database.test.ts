import { expect, test } from 'bun:test';
import { readLogDatabase } from './log-database';
import { readSinks } from './sinks';
import { EnvReader } from './values';

const keeping = { logBodies: true, logRetentionDays: 400, logBodiesTtlDays: 7 };
const read = (LOG_DATABASE_URL?: string, LOG_SINKS?: string, LOG_HOT_LABELS?: string) => {
  const env = new EnvReader({ LOG_DATABASE_URL, LOG_SINKS, LOG_HOT_LABELS });
  return readLogDatabase(env, keeping, readSinks(env, keeping).sinks);
};

test('without an address, Postgres has the log', () => {
  expect(read()).toBeUndefined();
  expect(read('')).toBeUndefined();
});

test('ClickHouse gets rows at once, with what is kept of their bodies', () => {
  expect(read('clickhouse://me:p%40ss@host/logs?tls=true')).toEqual({
    ...{ kind: 'clickhouse', name: 'clickhouse://host:8443/logs', url: 'https://host:8443', database: 'logs' },
    ...{ username: 'me', password: 'p@ss', everyMs: 0, withBodies: true, logRetentionDays: 400, logBodiesTtlDays: 7 },
    hotLabels: [],
  });
});

test.each([
  'postgres://host/logs',
  'clickhouse://host',
  'clickhouse://host/logs?cluster=one',
  'clickhouse://host/logs?tls=1',
  'clickhouse://me:p%zz@host/logs',
])('%s is refused without its password', (address) => {
  expect(() => read(address)).toThrow('LOG_DATABASE_URL=***');
});

test('hot labels are plain names', () => {
  expect(read('clickhouse://host/logs', '', ' team, env,team,')?.hotLabels).toEqual(['team', 'env']);
  for (const wrong of ["it's", 'a b', 'x'.repeat(65)]) {
    expect(() => read('clickhouse://host/logs', '', wrong)).toThrow('LOG_HOT_LABELS');
  }
});

test('Postgres may keep the last days only, where another store has the others', () => {
  const keep = (LOG_POSTGRES_DAYS: string, LOG_DATABASE_URL?: string) =>
    readLogDatabase(new EnvReader({ LOG_DATABASE_URL, LOG_POSTGRES_DAYS }), keeping, []);
  expect(keep('8', 'clickhouse://host/logs')?.postgresDays).toBe(8);
  expect(() => keep('7', 'clickhouse://host/logs')).toThrow('more days than LOG_BODIES_TTL_DAYS=7');
  for (const few of ['1', '2']) {
    expect(() => keep(few, 'clickhouse://host/logs')).toThrow(`LOG_POSTGRES_DAYS=${few}: 0 for no rows, or at least 3`);
  }
  expect(() => keep('0')).toThrow('LOG_POSTGRES_DAYS=0');
  expect(() => keep('8')).toThrow('LOG_DATABASE_URL is needed with it');
});

test('Postgres may get no rows, where it has no kept prompts either', () => {
  const none = { LOG_DATABASE_URL: 'clickhouse://host/logs', LOG_POSTGRES_DAYS: '0' };
  expect(readLogDatabase(new EnvReader(none), { ...keeping, logBodies: false }, [])?.postgresDays).toBe(0);
  expect(() => readLogDatabase(new EnvReader(none), { ...keeping, logBodies: true }, [])).toThrow('with LOG_BODIES');
});

test('it is none of the sinks', () => {
  expect(() => read('clickhouse://host/logs', 'clickhouse://host/logs')).toThrow('one of LOG_SINKS');
});
