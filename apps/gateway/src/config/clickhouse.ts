import { type ConfigError, credentialsOf, UNDECODABLE } from './values';

/** A database of a ClickHouse server. */
export interface ClickHouseServer {
  /** Address without options and secrets. */
  readonly name: string;
  /** Of its HTTP interface, without user and database. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

/** Reads `clickhouse://user:password@host:8123/database`. `refuse` makes the error to throw. */
export function readClickHouseServer(
  url: URL,
  isSecure: boolean,
  refuse: (allowed: string) => ConfigError,
): ClickHouseServer {
  const database = url.pathname.split('/').filter(Boolean).join('/');
  if (!/^\w{1,64}$/.test(database)) throw refuse('clickhouse://host:8123/database needs a database');
  const host = `${url.hostname}:${url.port === '' ? (isSecure ? '8443' : '8123') : url.port}`;
  const user = credentialsOf(url);
  if (user === undefined) throw refuse(UNDECODABLE);
  const { username, password } = user;
  return {
    ...{ name: `clickhouse://${host}/${database}`, database, password },
    ...{ url: `${isSecure ? 'https' : 'http'}://${host}`, username: username === '' ? 'default' : username },
  };
}
