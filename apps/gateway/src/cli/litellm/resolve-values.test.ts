import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { createResolver } from './resolve-values';

const EXAMPLES = await Bun.file(join(import.meta.dir, '../../../../../.env.example')).text();
/** Every variable that the gateway has, but those of vendors: these are what a file asks for. */
const [before = '', rest = ''] = EXAMPLES.split(/^# ── Providers .*$/m);
const own = `${before}${rest.slice(rest.indexOf('# ── Plain HTTP'))}`;
const namesIn = (text: string) => [...text.matchAll(/^# ([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name ?? '');

/** What a reference to the name is, where every variable is set. */
function resolve(name: string) {
  const notes: string[] = [];
  const env = new Proxy<Record<string, string>>({}, { get: () => 'a-value' });
  const resolved = createResolver({}, env, (_, at, why) => notes.push(`${at}: ${why}`)).resolve(`os.environ/${name}`);
  return { ...resolved, notes };
}

describe("variables of the gateway's own", () => {
  test('none of its settings is read for a file', () => {
    const names = namesIn(own);
    expect(names.length).toBeGreaterThan(60);
    expect(names).toContain('EMBEDDING_SERVICE_KEY');
    expect(names.filter((name) => resolve(name).text !== undefined)).toEqual([]);
  });

  test.each([
    ...['POSTGRES_PASSWORD', 'PGPASSWORD', 'REDISCLI_AUTH', 'VALKEY_PASSWORD', 'DB_PASSWORD', 'POSTGRESQL_PASSWORD'],
    ...['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'LLM0_URL', 'PROVIDER_KEY', 'BACKEND_RERANK_URL', 'PY_SERVICE_URL'],
    ...['TRIAL_POSTGRES_PASSWORD', 'ADMIN_TOKEN_FILE', 'admin_token', ' ADMIN_TOKEN ', 'Redis_Password'],
  ])('nor is %s, which is said', (name) => {
    const { text, notes } = resolve(name);
    expect(text).toBeUndefined();
    expect(notes.join()).toContain("the gateway's own");
  });

  test.each(['OPENAI_API_KEY', 'AZURE_API_KEY_EU', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'MY_SERVER_URL'])(
    '%s is read',
    (name) => {
      expect(resolve(name)).toEqual({ text: 'a-value', variable: name, notes: [] });
    },
  );

  test("the file's own settings of such a name are ignored", () => {
    const config = { environment_variables: { REDIS_PASSWORD: 'of-the-file' } };
    expect(createResolver(config, {}, () => {}).resolve('os.environ/REDIS_PASSWORD').text).toBe('of-the-file');
  });
});
