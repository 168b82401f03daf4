import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ConfigError, readConfig } from './config';

const wrong = (env: Record<string, string>): string => {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('readConfig', () => {
  test('an empty environment gives the documented defaults', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      port: 8080,
      host: '127.0.0.1',
      environment: 'local',
      dataDir: './data',
      demoProvider: true,
      requestTimeoutMs: 30_000,
      answerTimeoutMs: 600_000,
      streamIdleTimeoutMs: 60_000,
      slowReaderTimeoutMs: 60_000,
      drainTimeoutMs: 30_000,
      logRetentionDays: 90,
      cacheTtlSeconds: 3600,
      cacheMaxBodyBytes: 1024 ** 2,
      cacheMaxBytes: 32 * 1024 ** 2,
      maxBodyBytes: 20 * 1024 ** 2,
      workers: 1,
      failoverMode: 'cloud_first',
      backgroundWorkers: true,
      providers: [],
    });
    expect([config.databaseUrl, config.redis, config.adminToken]).toEqual([undefined, undefined, undefined]);
  });

  test('the admin listener uses HOST by default', () => {
    const of = (env: Record<string, string>) => {
      const { host, adminHost, adminPort } = readConfig(env);
      return [host, adminHost, adminPort];
    };
    expect(of({})).toEqual(['127.0.0.1', '127.0.0.1', undefined]);
    expect(of({ HOST: '0.0.0.0', ADMIN_PORT: '9090' })).toEqual(['0.0.0.0', '0.0.0.0', 9090]);
    expect(of({ HOST: '0.0.0.0', ADMIN_PORT: '0', ADMIN_HOST: '10.0.0.1' })).toEqual(['0.0.0.0', '10.0.0.1', 0]);
    expect(of({ PORT: '0', ADMIN_PORT: '0' })).toEqual(['127.0.0.1', '127.0.0.1', 0]);
  });

  test.each<[Record<string, string>, string]>([
    [{ PORT: 'eighty' }, 'PORT=eighty: a whole number from 0 to 65535 is needed'],
    [{ PORT: '70000' }, 'PORT=70000: a whole number from 0 to 65535 is needed'],
    [{ REQUEST_TIMEOUT: 'soon' }, 'REQUEST_TIMEOUT=soon: a duration'],
    [{ REQUEST_TIMEOUT: '0' }, 'REQUEST_TIMEOUT=0: a duration'],
    [
      { FAILOVER_MODE: 'any' },
      'FAILOVER_MODE=any: one of cloud_first, local_first, local_only, cloud_only, off is needed',
    ],
    [{ LOG_RETENTION_DAYS: '30' }, 'LOG_RETENTION_DAYS=30: a whole number from 62'],
    [{ ADMIN_TOKEN: 'short' }, 'ADMIN_TOKEN=***: at least 16 characters are needed, 5 were given'],
    [{ METRICS_TOKEN: 'short' }, 'METRICS_TOKEN=***: at least 16 characters are needed, 5 were given'],
    [{ ADMIN_PORT: '8080' }, 'ADMIN_PORT=8080: another port than PORT is needed'],
    [{ ADMIN_PORT: '70000' }, 'ADMIN_PORT=70000: a whole number from 0 to 65535'],
    [{ ADMIN_HOST: '10.0.0.1' }, 'ADMIN_HOST=10.0.0.1: ADMIN_PORT is needed with it'],
    [{ ADMIN_PORT: '9090', ADMIN_HOST: 'http://x' }, 'ADMIN_HOST=http://x: an address of this machine'],
    [{ ENCRYPTION_KEY: 'abc' }, 'ENCRYPTION_KEY=***: 32 bytes'],
    [{ DATABASE_URL: 'mysql://u:secret@h/d' }, 'DATABASE_URL=mysql://***@h/d: a URL starting with'],
    [{ REDIS_URL: 'localhost:6379' }, 'REDIS_URL=localhost:6379: a URL'],
    [{ GATEWAY_WORKERS: '2' }, 'GATEWAY_WORKERS=2: more than 1 needs both'],
    [{ TLS_ENABLED: 'true' }, 'TLS_ENABLED=true: TLS_CERT_FILE'],
    [{ LOG_BODIES: 'maybe' }, 'LOG_BODIES=maybe: true or false is needed'],
    [{ EGRESS_ALLOW: 'ok.internal,http://x' }, 'EGRESS_ALLOW=http://x: host names'],
    [{ EGRESS_ALLOW: '10.0.0.0/33' }, 'EGRESS_ALLOW=10.0.0.0/33: host names'],
    [{ MEDIA_EGRESS_ALLOW: 'http://x' }, 'MEDIA_EGRESS_ALLOW=http://x: host names'],
    [{ BEDROCK_REGION: 'mars' }, 'BEDROCK_REGION=mars: a region'],
    [{ BEDROCK_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'AKIA' }, 'AWS_SECRET_ACCESS_KEY=: AWS_ACCESS_KEY_ID and'],
    [{ OPENAI_API_KEY: 'sk-secret,sk with space' }, 'OPENAI_API_KEY=***: visible ASCII'],
    [{ ENVIRONMENT: 'produktion' }, 'ENVIRONMENT=produktion: one of local, development, test, staging, production'],
    [{ HOST: 'http://0.0.0.0' }, 'HOST=http://0.0.0.0: an address of this machine'],
    [{ HOST: '127.0.0.256' }, 'HOST=127.0.0.256: an address of this machine'],
    [{ CACHE_MAX_BYTES: '-1' }, 'CACHE_MAX_BYTES=-1: a size'],
  ])('%p stops the start with one line', (env, line) => {
    const message = wrong(env);
    expect(message).toStartWith(line);
    expect(message).not.toContain('\n');
    expect(message).not.toContain('secret');
  });

  test('durations and sizes', () => {
    expect(readConfig({ REQUEST_TIMEOUT: '500ms' }).requestTimeoutMs).toBe(500);
    expect(readConfig({ REQUEST_TIMEOUT: '1m' }).requestTimeoutMs).toBe(60_000);
    expect(readConfig({ REQUEST_TIMEOUT: '45' }).requestTimeoutMs).toBe(45_000);
    expect(readConfig({ MAX_BODY_BYTES: '2MiB' }).maxBodyBytes).toBe(2 * 1024 ** 2);
    expect(readConfig({ MAX_BODY_BYTES: '1000' }).maxBodyBytes).toBe(1000);
  });

  test('providers come from their keys, local ones from their URL', () => {
    const config = readConfig({
      OPENAI_API_KEY: 'sk-1',
      OLLAMA_BASE_URL: 'http://127.0.0.1:11434/',
      GROQ_API_KEY: ' ',
    });
    expect(config.providers).toEqual([
      { name: 'openai', apiKey: 'sk-1', baseUrl: undefined },
      { name: 'ollama', apiKey: undefined, baseUrl: 'http://127.0.0.1:11434' },
    ]);
    expect(config.demoProvider).toBe(false);
  });

  test('a vendor whose every account has a host of its own needs it', () => {
    const url = 'https://me.openai.azure.com';
    expect(readConfig({ AZURE_OPENAI_API_KEY: 'k', AZURE_OPENAI_ENDPOINT: url }).providers).toEqual([
      { name: 'azure', apiKey: 'k', baseUrl: url },
    ]);
    expect(() => readConfig({ AZURE_OPENAI_API_KEY: 'k' })).toThrow('AZURE_OPENAI_ENDPOINT');
  });

  test('several keys of a vendor, separated by commas', () => {
    const { providers } = readConfig({ OPENAI_API_KEY: 'sk-1, sk-2,sk-3,' });
    expect(providers).toEqual([{ name: 'openai', apiKey: 'sk-1', furtherKeys: ['sk-2', 'sk-3'], baseUrl: undefined }]);
  });

  test('AWS credentials are used only where Bedrock is meant', () => {
    const pair = { AWS_ACCESS_KEY_ID: 'AKIA1', AWS_SECRET_ACCESS_KEY: 's/e+c', AWS_REGION: 'eu-west-3' };
    expect(readConfig(pair).providers).toEqual([]);
    const own = { ...pair, AWS_SESSION_TOKEN: 't==', BEDROCK_BASE_URL: 'https://proxy.example/' };
    expect(readConfig(own).providers).toEqual([
      {
        name: 'bedrock',
        apiKey: 'AKIA1:s/e+c:t==',
        baseUrl: 'https://proxy.example',
        options: { region: 'eu-west-3' },
      },
    ]);
    expect(readConfig({ ...pair, BEDROCK_REGION: 'us-gov-west-1' }).providers[0]?.options?.region).toBe(
      'us-gov-west-1',
    );
    expect(readConfig({ AWS_BEARER_TOKEN_BEDROCK: 'ABSKx' }).providers[0]?.apiKey).toBe('ABSKx');
  });

  test('a file of a secret that has nothing to say is refused, one that does not count is told', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'secret-')), 'empty');
    writeFileSync(path, ' \n');
    expect(wrong({ LOG_SINKS_FILE: path })).toBe(`LOG_SINKS_FILE=${path}: the file is empty`);
    expect(readConfig({ OPENAI_API_KEY: 'k', OPENAI_API_KEY_FILE: path }).warnings).toEqual([
      'OPENAI_API_KEY and OPENAI_API_KEY_FILE are set: OPENAI_API_KEY_FILE is ignored',
    ]);
    rmSync(dirname(path), { recursive: true });
  });

  test('settings without effect are told', () => {
    const env = { VERTEX_LOCATION: 'europe-west1', AZURE_OPENAI_ENDPOINT: 'https://a.openai.azure.com' };
    expect(readConfig(env).warnings).toEqual([
      'AZURE_OPENAI_ENDPOINT has no effect without AZURE_OPENAI_API_KEY',
      'VERTEX_LOCATION has no effect without VERTEX_PROJECT',
    ]);
    expect(readConfig({ ...env, VERTEX_PROJECT: 'p', AZURE_OPENAI_API_KEY: 'k' }).warnings).toEqual([]);
  });

  test.each([
    [{ DATABASE_URL: 'postgres://u:p%zz@db/x' }, 'DATABASE_URL=postgres://***@db/x: user and password'],
    [{ REDIS_URL: 'redis://u:p%zz@hot' }, 'REDIS_URL=redis://***@hot: user and password'],
  ])('credentials that are not percent-encoded: %o', (env, message) => {
    expect(wrong(env as never)).toStartWith(message);
  });

  test('a secret may be in a file that <name>_FILE names; the variable itself counts first', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'llm0-secret-')), 'password');
    writeFileSync(path, 'from-a-file\n');
    const redis = { REDIS_URL: 'redis://r:6379', REDIS_PASSWORD_FILE: path };
    expect(readConfig({ ...redis, REDIS_PASSWORD: '' })).toMatchObject({
      redis: { password: 'from-a-file' },
      misspeltNames: [],
    });
    expect(readConfig({ ...redis, REDIS_PASSWORD: 'own' }).redis?.password).toBe('own');
    expect(() => readConfig({ DATABASE_URL_FILE: '/not/there' })).toThrow('DATABASE_URL_FILE=/not/there: a file');
    expect(readConfig({ OPENAI_API_KEY_FILE: path }).providers).toMatchObject([
      { name: 'openai', apiKey: 'from-a-file' },
    ]);
    expect(readConfig({ AWS_BEARER_TOKEN_BEDROCK_FILE: path }).providers[0]?.apiKey).toBe('from-a-file');
    expect(readConfig({ EMBEDDING_SERVICE_KEY_FILE: path }).embedding.serviceKey).toBe('from-a-file');
    rmSync(dirname(path), { recursive: true });
  });

  test('earlier encryption keys need a current one', () => {
    const [now, before, first] = [1, 2, 3].map((fill) => Buffer.alloc(32, fill));
    const env = {
      ENCRYPTION_KEY: now?.toString('hex'),
      ENCRYPTION_KEY_PREVIOUS: `${before?.toString('base64')}, ${first?.toString('hex')}`,
    };
    expect(readConfig(env)).toMatchObject({ encryptionKey: now, encryptionKeysPrevious: [before, first] });
    expect(readConfig({}).encryptionKeysPrevious).toEqual([]);
    expect(() => readConfig({ ENCRYPTION_KEY_PREVIOUS: env.ENCRYPTION_KEY_PREVIOUS })).toThrow(
      'ENCRYPTION_KEY is needed',
    );
    expect(() => readConfig({ ...env, ENCRYPTION_KEY_PREVIOUS: 'short' })).toThrow(
      'ENCRYPTION_KEY_PREVIOUS=***: 32 bytes',
    );
  });

  test('egress of requests', () => {
    expect(readConfig({}).egressAllow).toEqual([]);
    expect(readConfig({ EGRESS_ALLOW: '::1' }).mediaEgressAllow).toEqual([]);
    expect(readConfig({ MEDIA_EGRESS_ALLOW: '::1' })).toMatchObject({ egressAllow: [], mediaEgressAllow: ['::1'] });
    expect(readConfig({ EGRESS_ALLOW: 'LLM.internal:8000, 10.1.0.0/16 fd00::/8,::1' }).egressAllow).toEqual([
      'llm.internal:8000',
      '10.1.0.0/16',
      'fd00::/8',
      '::1',
    ]);
  });

  test('the demo provider: auto, on, off', () => {
    expect(readConfig({ ENVIRONMENT: 'production' }).demoProvider).toBe(false);
    expect(readConfig({ ENVIRONMENT: 'production', DEMO_PROVIDER: 'on' }).demoProvider).toBe(true);
    expect(readConfig({ DEMO_PROVIDER: 'off' }).demoProvider).toBe(false);
    expect(readConfig({ OPENAI_API_KEY: 'sk-1', DEMO_PROVIDER: 'on' }).demoProvider).toBe(true);
  });

  test('short names of environments mean the long ones', () => {
    expect(readConfig({ ENVIRONMENT: 'Prod' })).toMatchObject({ environment: 'production', demoProvider: false });
    expect(readConfig({ ENVIRONMENT: 'dev' }).environment).toBe('development');
  });

  test.each([
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['2', 2000],
    ['1h0m0s', 3_600_000],
  ])('REQUEST_TIMEOUT=%s, as Go writes durations', (text, ms) => {
    expect(readConfig({ REQUEST_TIMEOUT: text }).requestTimeoutMs).toBe(ms);
  });

  test.each(['1m30', '30 s', '-1s', 's', '0s', '25h', '1x'])('REQUEST_TIMEOUT=%s is none', (text) => {
    expect(() => readConfig({ REQUEST_TIMEOUT: text })).toThrow('a duration such as');
  });

  test.each([
    ['https://app.example.com/, http://localhost:3000', ['https://app.example.com', 'http://localhost:3000']],
    ['*', ['*']],
    ['HTTPS://App.Example.com:443', ['https://app.example.com']],
    ['app://obsidian.md', ['app://obsidian.md']],
  ])('CORS_ORIGINS=%s', (text, origins) => {
    expect(readConfig({ CORS_ORIGINS: text }).corsOrigins).toEqual(origins);
  });

  test.each(['example.com', 'https://a.com/path', 'https://*.a.com', 'null'])('CORS_ORIGINS=%s is none', (text) => {
    expect(() => readConfig({ CORS_ORIGINS: text })).toThrow('CORS_ORIGINS=');
  });

  test('names of the Go project are taken with one notice', () => {
    const redis = { REDIS_URL: 'redis://h:1', REDIS_PASSWORD: 'p', REDIS_DB: '2', REDIS_MIN_RETRY_BACKOFF: '8ms' };
    const config = readConfig({ ...redis, DB_MAX_CONNS: '25', HOT_KEY_CACHE_TTL: '60', TLS_SESSION_CACHE_SIZE: '1' });
    expect(config.ignoredNames).toEqual([
      'DB_MAX_CONNS',
      'REDIS_MIN_RETRY_BACKOFF',
      'HOT_KEY_CACHE_TTL',
      'TLS_SESSION_CACHE_SIZE',
    ]);
    expect(config.misspeltNames).toEqual([]);
    expect(config.redis).toEqual({ url: 'redis://h:1', cluster: false, password: 'p', db: 2 });
  });
});
