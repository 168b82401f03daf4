import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { FAILOVER_MODES } from '@llm0/core/routing/failover-mode';
import { databaseEnvironment, programEnvironment } from '@llm0/core/threads/program-environment';
import { readBackendSettings, readHttpCache } from './backends';
import { readCorsOrigins } from './cors';
import { readEgressAllow } from './egress';
import { readEmbeddingSettings } from './embedding';
import { readFiles } from './files';
import { findMisspelt, ignoredNames } from './foreign-names';
import { readLogDatabase } from './log-database';
import { readMail } from './mail';
import { readProviderSettings } from './providers';
import { readSecretManagers } from './secret-managers';
import { readSignOn } from './sign-on';
import { readSinks } from './sinks';
import { readTelemetry } from './telemetry';
import { readTestSettings } from './testing';
import { ConfigError, type Environment, EnvReader, type Settings } from './values';

export { ConfigError } from './values';

/** Settings of the stores only, for commands on them. Throws `ConfigError`. */
export const readStoreConfig = (env: Environment): StoreConfig => readStores(new EnvReader(env));

/** Result of `readStoreConfig`; a `Config` fits too. */
export type StoreConfig = Pick<Config, 'databaseUrl' | 'redis' | 'dataDir'>;

/** Names in use for the same thing. */
const ENVIRONMENTS: Readonly<Record<string, string>> = { prod: 'production', dev: 'development', stage: 'staging' };
const KNOWN_ENVIRONMENTS = ['local', 'development', 'test', 'staging', 'production'] as const;

const MIB = 1024 * 1024;

/** All external settings of the process. Durations in ms, sizes in bytes. */
export type Config = Settings<ReturnType<typeof readConfig>>;

/** Reads the environment once. The only place that knows variable names; throws `ConfigError`. */
export function readConfig(env: Environment) {
  const read = new EnvReader(env);
  const settings = readSettings(read, env);
  /** Unknown names that are near known ones. */
  return { ...settings, misspeltNames: findMisspelt(env, read.known), warnings: [...read.warnings] };
}

/** Names that are asked for where nothing is set. */
export function settingNames(): ReadonlySet<string> {
  const read = new EnvReader({});
  readSettings(read, {});
  return read.known;
}

/** Allowed values of each setting, in words. */
export function allowedValues(env: Environment): ReadonlyMap<string, string> {
  const read = new EnvReader(env);
  readSettings(read, env);
  for (const name of read.known) if (!read.allowed.has(name)) read.allowed.set(name, 'text');
  return read.allowed;
}

function readSettings(read: EnvReader, env: Environment) {
  const environment = readEnvironment(read);
  const stores = readStores(read);
  const providers = readProviderSettings(read);
  const demo = read.oneOf('DEMO_PROVIDER', 'auto', ['auto', 'on', 'off']);
  const keeping = readKeeping(read, stores);
  const keys = readEncryptionKeys(read);
  return {
    ...stores,
    ...readProcess(read, stores, env),
    ...keeping,
    /** Exporter settings; undefined disables export. */
    telemetry: readTelemetry(read, keeping),
    ...readRows(read, keeping),
    /** Callers' files. */
    files: readFiles(read, stores),
    environment,
    adminToken: readToken(read, 'ADMIN_TOKEN'),
    ...keys,
    /** Sign-in of people. */
    mail: readMail(read),
    signOn: readSignOn(read, { ...stores, hasEncryptionKey: keys.encryptionKey !== undefined }),
    providers,
    /** Secret managers, and the environment that references may name. */
    secrets: { ...readSecretManagers(read), env },
    /** Plain HTTP services behind `/infer`; operators may add others. */
    backends: readBackendSettings(read, env),
    httpCache: readHttpCache(read, stores.redis !== undefined),
    /** Private hosts, addresses and ranges that providers and webhooks of operators may use. */
    egressAllow: readEgressAllow(read, 'EGRESS_ALLOW'),
    /** Private hosts for media in callers' messages. */
    mediaEgressAllow: readEgressAllow(read, 'MEDIA_EGRESS_ALLOW'),
    /** Folder and environment of local MCP servers; undefined forbids them. */
    mcpPrograms: read.flag('MCP_STDIO', false) ? readPrograms(env, stores.dataDir) : undefined,
    /** Browser origins that may use the data plane; `*` = any. */
    corsOrigins: readCorsOrigins(read),
    databaseEnv: databaseEnvironment(env),
    demoProvider: demo === 'on' || (demo === 'auto' && providers.length === 0 && environment !== 'production'),
    tierModels: {
      flagship: read.text('OLLAMA_MODEL_FLAGSHIP'),
      balanced: read.text('OLLAMA_MODEL_BALANCED'),
      budget: read.text('OLLAMA_MODEL_BUDGET'),
    },
    failoverMode: read.oneOf('FAILOVER_MODE', 'cloud_first', FAILOVER_MODES),
    embedding: readEmbeddingSettings(read),
    testing: readTestSettings(read, environment),
    configFile: readConfigFile(read, env),
    /** Names that are accepted for the Go project's sake and have no effect here. */
    ignoredNames: ignoredNames(env),
  };
}

/** Where rows of the log go besides Postgres. */
function readRows(read: EnvReader, keeping: ReturnType<typeof readKeeping>) {
  const logSinks = readSinks(read, keeping);
  return { logSinks, logDatabase: readLogDatabase(read, keeping, logSinks.sinks) };
}

/** Each runs in a folder of its own: the gateway's has files of settings, which programs read by themselves. */
const readPrograms = (env: Environment, dataDir: string) => ({
  env: programEnvironment(env),
  folder: resolve(dataDir, 'mcp'),
});

/** A file of projects, keys and the rest, with the variables that it refers to; undefined without one. */
function readConfigFile(read: EnvReader, env: Environment) {
  const path = read.text('GATEWAY_CONFIG');
  return path === undefined ? undefined : { path, env };
}

function readEnvironment(read: EnvReader): string {
  const text = read.text('ENVIRONMENT')?.toLowerCase() ?? 'local';
  const environment = ENVIRONMENTS[text] ?? text;
  if (KNOWN_ENVIRONMENTS.some((known) => known === environment)) return environment;
  throw new ConfigError('ENVIRONMENT', text, `one of ${KNOWN_ENVIRONMENTS.join(', ')} is needed`);
}

function readHost(read: EnvReader, name: 'HOST' | 'ADMIN_HOST'): string {
  const host = read.text(name) ?? '127.0.0.1';
  if (isIP(host) !== 0 || /^(?=.*[a-z])[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host)) return host;
  throw new ConfigError(name, host, 'an address of this machine (127.0.0.1, 0.0.0.0, ::) or its name is needed');
}

/** Without URLs, the embedded stores. */
function readStores(read: EnvReader) {
  return {
    databaseUrl: read.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    redis: readRedis(read),
    dataDir: read.text('DATA_DIR') ?? './data',
  };
}

type Stores = ReturnType<typeof readStores>;

/** Names that the runtime's fetch obeys. */
const PROXY_NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];

function readProcess(read: EnvReader, { databaseUrl, redis }: Stores, env: Environment) {
  const workers = read.integer('GATEWAY_WORKERS', 1, { min: 1, max: 64 });
  if (workers > 1 && (databaseUrl === undefined || redis === undefined)) {
    throw new ConfigError('GATEWAY_WORKERS', String(workers), 'more than 1 needs both DATABASE_URL and REDIS_URL');
  }
  const workerIndex = read.optionalInteger('LLM0_WORKER', { min: 0, max: 63 });
  return {
    ...readAddresses(read),
    publicUrl: (read.url('PUBLIC_URL') ?? `http://localhost:${read.integer('PORT', 8080, PORTS)}`).replace(/\/$/, ''),
    logLevel: read.oneOf('LOG_LEVEL', 'info', ['trace', 'debug', 'info', 'warn', 'error', 'silent']),
    tls: readTls(read),
    workers,
    /** Set in the processes that a supervisor of several started. */
    workerIndex,
    /** True if the operator sees the output of this process at its start. */
    showsCredentials: read.flag('LLM0_FIRST_WORKER', workerIndex === undefined),
    backgroundWorkers: !read.flag('DISABLE_BACKGROUND_WORKERS', false),
    requestTimeoutMs: read.durationMs('REQUEST_TIMEOUT', '30s'),
    answerTimeoutMs: read.durationMs('ANSWER_TIMEOUT', '600s'),
    isBehindProxy: PROXY_NAMES.some((name) => (env[name] ?? '') !== ''),
    streamIdleTimeoutMs: read.durationMs('STREAM_IDLE_TIMEOUT', '60s'),
    slowReaderTimeoutMs: read.durationMs('SLOW_READER_TIMEOUT', '60s'),
    drainTimeoutMs: read.durationMs('DRAIN_TIMEOUT', '30s'),
    /** Lines of batches that a process asks for at a time, of each of the chunks it runs. */
    /** Batches go to the vendor that serves them, if it has some. */
    vendorBatches: read.flag('VENDOR_BATCHES', true),
    batchConcurrency: read.integer('BATCH_CONCURRENCY', 8, { min: 1, max: 1000 }),
    maxBodyBytes: read.bytes('MAX_BODY_BYTES', 20 * MIB),
    /** Bound of an upstream's answer, decompressed. */
    maxResponseBytes: read.bytes('MAX_RESPONSE_BYTES', 64 * MIB),
    ...readFloodLimits(read),
  };
}

const PORTS = { min: 0, max: 65_535 };

export type ListenSettings = ReturnType<typeof readListening>;

/** Address of the gateway for operators, and their token. Throws `ConfigError`. */
export function readListening(env: Environment) {
  const read = new EnvReader(env);
  const { port, host, adminPort, adminHost } = readAddresses(read);
  const [isTls, adminToken] = [read.flag('TLS_ENABLED', false), read.text('ADMIN_TOKEN')];
  return { port, host, adminPort, adminHost, isTls, adminToken };
}

/** Listening addresses. With an admin port, operators have a listener of their own. */
function readAddresses(read: EnvReader) {
  const range = { min: 0, max: 65_535 };
  const port = read.integer('PORT', 8080, range);
  const host = readHost(read, 'HOST');
  const adminPort = read.optionalInteger('ADMIN_PORT', range);
  const adminHost = read.text('ADMIN_HOST') === undefined ? host : readHost(read, 'ADMIN_HOST');
  if (adminPort === undefined && read.text('ADMIN_HOST') !== undefined) {
    throw new ConfigError('ADMIN_HOST', adminHost, 'ADMIN_PORT is needed with it');
  }
  if (adminPort !== undefined && adminPort !== 0 && adminPort === port) {
    throw new ConfigError('ADMIN_PORT', String(adminPort), 'another port than PORT is needed');
  }
  return { port, host, adminPort, adminHost, metricsToken: readToken(read, 'METRICS_TOKEN') };
}

/** Before authentication; off unless set. */
function readFloodLimits(read: EnvReader) {
  return {
    globalRate: readRate(read, 'GLOBAL'),
    clientRate: readRate(read, 'CLIENT'),
    trustProxyHops: read.integer('TRUST_PROXY_HOPS', 0, { min: 0, max: 16 }),
    maxConcurrentRequests: read.optionalInteger('MAX_CONCURRENT_REQUESTS', { min: 1, max: 1_000_000 }),
  };
}

function readRate(read: EnvReader, whose: 'GLOBAL' | 'CLIENT') {
  const range = { min: 1, max: 10_000_000 };
  const perSecond = read.optionalInteger(`${whose}_RPS`, range);
  const burst = read.optionalInteger(`${whose}_BURST`, range);
  if (perSecond !== undefined) return { perSecond, burst: burst ?? perSecond };
  if (burst === undefined) return undefined;
  throw new ConfigError(`${whose}_BURST`, String(burst), `${whose}_RPS is needed with it`);
}

/** Retention of requests. */
function readKeeping(read: EnvReader, { redis }: Stores) {
  return {
    logRetentionDays: read.integer('LOG_RETENTION_DAYS', 90, { min: 62, max: 3650 }),
    cacheTtlSeconds: read.integer('CACHE_TTL_SECONDS', 3600, { min: 1, max: 31_536_000 }),
    cacheMaxBodyBytes: read.bytes('CACHE_MAX_BODY_BYTES', MIB),
    cacheMaxBytes: read.bytes('CACHE_MAX_BYTES', redis === undefined ? 32 * MIB : 256 * MIB),
    logBodies: read.flag('LOG_BODIES', false),
    logBodiesTtlDays: read.integer('LOG_BODIES_TTL_DAYS', 7, { min: 1, max: 3650 }),
    /** Lifetime of stored answers; 0 = not stored. */
    responsesRetentionDays: read.integer('RESPONSES_RETENTION_DAYS', 30, { min: 0, max: 3650 }),
  };
}

function readRedis(read: EnvReader) {
  const url = read.url('REDIS_URL', ['redis:', 'rediss:']);
  if (url === undefined) return undefined;
  const db = read.optionalInteger('REDIS_DB', { min: 0, max: 1_000_000 });
  return { url, cluster: read.flag('REDIS_CLUSTER', false), password: read.text('REDIS_PASSWORD'), db };
}

function readTls(read: EnvReader) {
  const certFile = read.text('TLS_CERT_FILE');
  const keyFile = read.text('TLS_KEY_FILE');
  if (!read.flag('TLS_ENABLED', false)) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    throw new ConfigError('TLS_ENABLED', 'true', 'TLS_CERT_FILE and TLS_KEY_FILE are needed with it');
  }
  return { certFile, keyFile };
}

function readToken(read: EnvReader, name: 'ADMIN_TOKEN' | 'METRICS_TOKEN'): string | undefined {
  const token = read.text(name);
  if (token !== undefined && token.length < 16) {
    throw new ConfigError(name, '***', `at least 16 characters are needed, ${token.length} were given`);
  }
  return token;
}

/** `encryptionKeysPrevious`: keys that stored secrets may still be sealed with. */
function readEncryptionKeys(read: EnvReader) {
  const bytesOf = (name: string, text: string): Uint8Array => {
    const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
    if (bytes.length === 32) return bytes;
    throw new ConfigError(name, '***', '32 bytes as base64 or hex are needed');
  };
  const text = read.text('ENCRYPTION_KEY');
  const previous = read.text('ENCRYPTION_KEY_PREVIOUS')?.split(',') ?? [];
  if (text === undefined && previous.length > 0) {
    throw new ConfigError('ENCRYPTION_KEY_PREVIOUS', '***', 'ENCRYPTION_KEY is needed with it');
  }
  return {
    encryptionKey: text === undefined ? undefined : bytesOf('ENCRYPTION_KEY', text),
    encryptionKeysPrevious: previous.map((one) => bytesOf('ENCRYPTION_KEY_PREVIOUS', one.trim())),
  };
}
