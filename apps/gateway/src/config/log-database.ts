import { readClickHouseServer } from './clickhouse';
import type { KeptDays, LogDatabaseSetting, SinkSetting } from './sinks';
import { ConfigError, type EnvReader } from './values';

/** Undefined where Postgres alone has the log. */
export function readLogDatabase(
  read: EnvReader,
  { logBodies, logRetentionDays, logBodiesTtlDays }: KeptDays & { readonly logBodies: boolean },
  sinks: readonly SinkSetting[],
): LogDatabaseSetting | undefined {
  read.allowed.set('LOG_DATABASE_URL', 'clickhouse://user:password@host:8123/database');
  const hotLabels = readHotLabels(read);
  // Rows of the last days may still be corrected, and are read all the time.
  const postgresDays = read.optionalInteger('LOG_POSTGRES_DAYS', { min: 0, max: 3650 });
  read.allowed.set('LOG_POSTGRES_DAYS', '0, or a whole number, 3 to 3650');
  if (postgresDays === 1 || postgresDays === 2) {
    throw new ConfigError('LOG_POSTGRES_DAYS', String(postgresDays), '0 for no rows, or at least 3 days are needed');
  }
  if (logBodies && postgresDays !== undefined && postgresDays <= logBodiesTtlDays) {
    // Who erases a customer finds kept texts by their rows.
    const allowed = `with LOG_BODIES, more days than LOG_BODIES_TTL_DAYS=${logBodiesTtlDays} are needed`;
    throw new ConfigError('LOG_POSTGRES_DAYS', String(postgresDays), allowed);
  }
  const text = read.text('LOG_DATABASE_URL');
  if (text === undefined || text === '') {
    if (postgresDays === undefined) return undefined;
    throw new ConfigError('LOG_POSTGRES_DAYS', String(postgresDays), 'LOG_DATABASE_URL is needed with it');
  }
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'clickhouse:' || url.hostname === '') {
    throw refuse('a URL such as clickhouse://user:password@host:8123/database is needed');
  }
  const { tls = 'false', ...others } = Object.fromEntries(url.searchParams);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw refuse(`there is no option "${unknown}"`);
  if (tls !== 'true' && tls !== 'false') throw refuse('tls must be true or false');
  const server = readClickHouseServer(url, tls === 'true', refuse);
  if (sinks.some(({ name }) => name === server.name)) throw refuse('the address is one of LOG_SINKS');
  return {
    kind: 'clickhouse',
    ...server,
    everyMs: 0,
    withBodies: logBodies,
    logRetentionDays,
    logBodiesTtlDays,
    ...{ hotLabels, postgresDays },
  };
}

function readHotLabels(read: EnvReader): readonly string[] {
  const allowed = 'up to 20 names of letters, digits, "_", "." and "-", separated by commas';
  read.allowed.set('LOG_HOT_LABELS', allowed);
  const text = read.text('LOG_HOT_LABELS') ?? '';
  const labels = text.split(',').map((one) => one.trim());
  const named = labels.filter((one) => one !== '');
  if (named.length > 20 || named.some((one) => !/^[\w.-]{1,64}$/.test(one))) {
    throw new ConfigError('LOG_HOT_LABELS', text, allowed);
  }
  return [...new Set(named)];
}

/** The address may hold a password, so it isn't shown. */
const refuse = (allowed: string) => new ConfigError('LOG_DATABASE_URL', '***', allowed);
