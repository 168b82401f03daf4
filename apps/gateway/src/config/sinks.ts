import { type ClickHouseServer, readClickHouseServer } from './clickhouse';
import { checkHeader } from './telemetry';
import { ConfigError, credentialsOf, type EnvReader, UNDECODABLE } from './values';

interface SinkOptions {
  /** Address without options and secrets, as metrics and pages show it. */
  readonly name: string;
  /** Longest time in milliseconds that a row waits; no export spans two hours. */
  readonly everyMs: number;
  /** With prompts and answers. */
  readonly withBodies: boolean;
}

/** A bucket of S3 or a service that speaks it. */
export interface BucketSetting extends SinkOptions {
  readonly kind: 's3';
  readonly bucket: string;
  /** With a slash at the end, or empty. */
  readonly prefix: string;
}

/** A topic of Kafka or Redpanda. */
export interface TopicSetting extends SinkOptions {
  readonly kind: 'kafka';
  /** `host:port` of any broker; it names the others. */
  readonly broker: string;
  readonly topic: string;
  readonly tls: boolean;
  readonly sasl: { readonly mechanism: Mechanism; readonly username: string; readonly password: string } | undefined;
}

/** Whatever takes spans by OTLP over HTTP: Langfuse, Datadog, an OpenTelemetry Collector. */
export interface CollectorSetting extends SinkOptions {
  readonly kind: 'otlp';
  /** Of its traces, without user and options. */
  readonly url: string;
  /** They may hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A database of ClickHouse. */
export interface ClickHouseSetting extends SinkOptions, ClickHouseServer {
  readonly kind: 'clickhouse';
}

/** Days after which rows, and prompts and answers, are deleted. */
export interface KeptDays {
  readonly logRetentionDays: number;
  readonly logBodiesTtlDays: number;
}

/** The store that answers for the log in place of Postgres; rows go there at once. */
export interface LogDatabaseSetting extends ClickHouseSetting, KeptDays {
  /** Labels with a column of their own. */
  readonly hotLabels: readonly string[];
  /** Whole days of rows that Postgres keeps; absent = all that are kept at all. */
  readonly postgresDays?: number | undefined;
}

/** A destination of the log's rows. */
export type SinkSetting = BucketSetting | TopicSetting | CollectorSetting | ClickHouseSetting;

const HOUR_MS = 3_600_000;
const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const;
type Mechanism = (typeof MECHANISMS)[number];

/** Destinations of finished rows, separated by commas. */
export function readSinks(read: EnvReader, { logBodies }: { readonly logBodies: boolean }) {
  read.allowed.set(
    'LOG_SINKS',
    's3://bucket/prefix, kafka://host:9092/topic, clickhouse://host:8123/database, otlp+https://host/v1/traces',
  );
  const addresses = (read.text('LOG_SINKS') ?? '').split(',').map((one) => one.trim());
  const sinks = addresses.filter((one) => one !== '').map((one) => readSink(one, logBodies));
  if (new Set(sinks.map(({ name }) => name)).size < sinks.length)
    throw refuse('each address may stand once; #name after an otlp+ address tells two apart');
  const s3 = {
    endpoint: sinks.length === 0 ? read.text('S3_ENDPOINT') : read.url('S3_ENDPOINT'),
    region: read.text('AWS_REGION') ?? read.text('AWS_DEFAULT_REGION'),
    accessKeyId: read.text('AWS_ACCESS_KEY_ID'),
    secretAccessKey: read.text('AWS_SECRET_ACCESS_KEY'),
    sessionToken: read.text('AWS_SESSION_TOKEN'),
  };
  return { sinks, s3, serviceName: read.text('OTEL_SERVICE_NAME') ?? 'llm0-gateway' };
}

export type SinkSettings = ReturnType<typeof readSinks>;

/** Addresses may hold passwords, so none is shown. */
const refuse = (allowed: string) => new ConfigError('LOG_SINKS', '***', allowed);

const KINDS = {
  's3:': readBucket,
  'kafka:': readTopic,
  'clickhouse:': readClickHouse,
  'otlp+http:': readCollector,
  'otlp+https:': readCollector,
} as const;

function readSink(text: string, logBodies: boolean): SinkSetting {
  const url = URL.parse(text);
  const readKind = url === null || url.hostname === '' ? undefined : KINDS[url.protocol as keyof typeof KINDS];
  if (url === null || readKind === undefined) {
    throw refuse(
      'addresses such as s3://bucket/prefix, kafka://host:9092/topic, clickhouse://host:8123/database or otlp+https://host/path are needed',
    );
  }
  const { every, bodies, ...others } = Object.fromEntries(url.searchParams);
  const withBodies = readSwitch('bodies', bodies);
  if (withBodies && !logBodies) throw refuse('bodies=true needs LOG_BODIES=true: only stored bodies can be exported');
  return readKind(url, others, { everyMs: every === undefined ? undefined : readEvery(every), withBodies });
}

type Given = Omit<SinkOptions, 'name' | 'everyMs'> & { readonly everyMs: number | undefined };
type Others = Readonly<Record<string, string>>;

function readBucket(url: URL, others: Others, { everyMs = HOUR_MS, withBodies }: Given): BucketSetting {
  refuseUnknown(others);
  if (url.username !== '' || url.port !== '') throw refuse('s3://bucket/prefix has no user and no port');
  const path = pathOf(url);
  const prefix = path === '' ? '' : `${path}/`;
  const name = `s3://${url.hostname}${path === '' ? '' : `/${path}`}`;
  return { kind: 's3', name, bucket: url.hostname, prefix, everyMs, withBodies };
}

function readTopic(url: URL, { tls, sasl, ...others }: Others, { everyMs = 1000, withBodies }: Given): TopicSetting {
  refuseUnknown(others);
  const topic = pathOf(url);
  if (!/^[\w.-]{1,249}$/.test(topic)) throw refuse('kafka://host:9092/topic needs a topic');
  const broker = `${url.hostname}:${url.port === '' ? '9092' : url.port}`;
  const user = readUser(url);
  const mechanism = MECHANISMS.find((one) => one === (sasl ?? 'PLAIN').toUpperCase());
  if (mechanism === undefined || (sasl !== undefined && user.username === '')) {
    throw refuse(`sasl must be one of ${MECHANISMS.join(', ')}, with user:password@ in front of the host`);
  }
  return {
    ...{ kind: 'kafka', name: `kafka://${broker}/${topic}`, broker, topic, everyMs, withBodies },
    tls: readSwitch('tls', tls),
    sasl: user.username === '' ? undefined : { mechanism, ...user },
  };
}

function readClickHouse(
  url: URL,
  { tls, ...others }: Others,
  { everyMs = 5000, withBodies }: Given,
): ClickHouseSetting {
  refuseUnknown(others);
  return { kind: 'clickhouse', ...readClickHouseServer(url, readSwitch('tls', tls), refuse), everyMs, withBodies };
}

const TRACES = '/v1/traces';

function readCollector(given: URL, { header: _, ...others }: Others, { everyMs = 1000, withBodies }: Given) {
  refuseUnknown(others);
  // Only a scheme that URLs know has its host read and checked.
  const url = URL.parse(given.href.slice('otlp+'.length));
  if (url === null) throw refuse('otlp+https://host/path needs a host');
  const { protocol, host, pathname, hash } = url;
  if (!/^(?:#[\w.-]{1,64})?$/.test(hash)) throw refuse('#name may hold letters, digits, "_", "." and "-"');
  const address = `${protocol}//${host}${pathname === '/' ? TRACES : pathname}`;
  const { username, password } = readUser(url);
  const basic = Buffer.from(`${username}:${password}`);
  const headers = {
    ...(username === '' ? {} : { authorization: `Basic ${basic.toString('base64')}` }),
    ...Object.fromEntries(given.searchParams.getAll('header').map(readHeader)),
  };
  return {
    kind: 'otlp',
    name: `otlp+${address}${hash}`,
    url: address,
    headers,
    everyMs,
    withBodies,
  } satisfies CollectorSetting;
}

function readHeader(text: string): readonly [name: string, value: string] {
  const at = text.indexOf(':');
  const pair = [text.slice(0, Math.max(at, 0)).trim().toLowerCase(), text.slice(at + 1).trim()] as const;
  if (!checkHeader(pair)) throw refuse('header must be name:value, percent-encoded');
  return pair;
}

function readUser(url: URL) {
  const user = credentialsOf(url);
  if (user === undefined) throw refuse(UNDECODABLE);
  return user;
}

const pathOf = ({ pathname }: URL): string => pathname.replace(/^\/+|\/+$/g, '');

function refuseUnknown(others: Others): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw refuse(`there is no option "${unknown}"`);
}

function readSwitch(name: string, text: string | undefined): boolean {
  if (text === undefined || text === 'false') return false;
  if (text === 'true') return true;
  throw refuse(`${name} must be true or false`);
}

function readEvery(every: string): number {
  const [, count = '', unit = ''] = /^(\d{1,4})([sm])$/.exec(every) ?? [];
  const ms = Number(count) * (unit === 'm' ? 60_000 : 1000);
  if (count === '' || ms < 1000 || ms > HOUR_MS) throw refuse('every must be 1s to 60m');
  return ms;
}
