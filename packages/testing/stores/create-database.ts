import postgres from 'postgres';

export interface TestDatabase {
  readonly url: string;
  /** Ends its connections and drops it. Idempotent. */
  drop(): Promise<void>;
}

/** A fresh, empty database on the server of `serverUrl` (TEST_DATABASE_URL). */
export function createDatabase(serverUrl: string): Promise<TestDatabase> {
  return createFrom(serverUrl, 'template0');
}

/** A copy of the one that the test command has migrated; empty where there is none: whoever opens it migrates it. */
export function createMigratedDatabase(serverUrl: string): Promise<TestDatabase> {
  return createFrom(serverUrl, process.env.TEST_DATABASE_TEMPLATE || 'template0');
}

async function createFrom(serverUrl: string, template: string): Promise<TestDatabase> {
  const name = `llm0_test_${crypto.randomUUID().replaceAll('-', '').slice(0, 16)}`;
  // Copied as files, which takes half the CPU of a copy through the log.
  await onServer(serverUrl, `create database ${name} encoding 'UTF8' template ${template} strategy file_copy`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => onServer(serverUrl, `drop database if exists ${name} with (force)`),
  };
}

async function onServer(serverUrl: string, statement: string): Promise<void> {
  const client = postgres(serverUrl, { max: 1, onnotice: () => {} });
  try {
    await client.unsafe(statement);
  } finally {
    await client.end();
  }
}
