import { beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { readConfig, readStoreConfig } from '../../../apps/gateway/src/config/config';
import { findHelm } from './install-helm';
import { CHART, find, type Manifest, renderChart, SECRETS, templateChart, type Values } from './render-chart';

const EXAMPLES = await Bun.file(join(CHART, '../../../.env.example')).text();

/** Fetching the tool takes some minutes, once. */
const ONCE_MS = 900_000;
beforeAll(async () => {
  await findHelm();
}, ONCE_MS);

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: Readonly<Record<string, unknown>> };
}

const containerOf = (manifests: readonly Manifest[], kind: string) =>
  find(manifests, kind).spec.template.spec.containers[0];

/** What a container gets by value. */
function valuesOf(manifests: readonly Manifest[], kind: string): Readonly<Record<string, string | undefined>> {
  const env = containerOf(manifests, kind).env as readonly Variable[];
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

const render = (values: Values) => renderChart({ secrets: SECRETS, ...values });

describe('numbers', () => {
  test('are printed in full, however large', async () => {
    const env = {
      ...{ MAX_BODY_BYTES: 20_971_520, CACHE_MAX_BYTES: 268_435_456, GLOBAL_RPS: 1_000_000, LOG_RETENTION_DAYS: 90 },
      ...{ OTEL_TRACES_SAMPLER_ARG: 0.25, LOG_BODIES: false, MAX_RESPONSE_BYTES: '64MiB' },
    };
    const told = valuesOf(await render({ env }), 'Deployment');
    const wanted = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));
    expect(told).toMatchObject(wanted);
    expect(readConfig(wanted).maxBodyBytes).toBe(20_971_520);
  });

  test('of other values too', async () => {
    const month = 2_592_000;
    const manifests = await render({
      migration: { activeDeadlineSeconds: month, ttlSecondsAfterFinished: month },
      autoscaling: { targetRequests: 1_000_000 },
    });
    expect(find(manifests, 'Job').spec).toMatchObject({
      activeDeadlineSeconds: month,
      ttlSecondsAfterFinished: month,
    });
    const [, requests] = find(manifests, 'HorizontalPodAutoscaler').spec.metrics;
    expect(requests.pods.target.averageValue).toBe('1000000');
  });
});

describe('the migration', () => {
  const values = {
    secrets: {
      ...SECRETS,
      PGPASSWORD: { name: 'db', key: 'password' },
      METRICS_TOKEN: { name: 'llm0', key: 'metrics' },
    },
    env: {
      ...{ NODE_EXTRA_CA_CERTS: '/ca/ca.crt', MAX_BODY_BYTES: 20_971_520 },
      ...{ OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'llm0' },
    },
    extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
    extraVolumeMounts: [{ name: 'ca', mountPath: '/ca', readOnly: true }],
  };

  test('has the variables and volumes that the gateway has', async () => {
    const manifests = await renderChart(values);
    const strings = Object.fromEntries(Object.entries(values.env).map(([name, value]) => [name, String(value)]));
    for (const kind of ['Deployment', 'Job']) {
      expect(valuesOf(manifests, kind)).toMatchObject(strings);
      expect(find(manifests, kind).spec.template.spec.volumes).toContainEqual(values.extraVolumes[0]);
      expect(containerOf(manifests, kind).volumeMounts).toContainEqual(values.extraVolumeMounts[0]);
    }
  });

  test('has secrets of the database alone, and runs without the others', async () => {
    const env = containerOf(await renderChart(values), 'Job').env as readonly Variable[];
    const taken = env.filter(({ valueFrom }) => valueFrom !== undefined).map(({ name }) => name);
    expect(taken).toEqual(['DATABASE_URL', 'PGPASSWORD']);
    // The key that sign-on needs is not there: settings of the gateway are none of its business.
    const told = Object.fromEntries(env.map(({ name, value }) => [name, value ?? 'postgres://llm0@postgres/llm0']));
    expect(() => readConfig(told)).toThrow('ENCRYPTION_KEY');
    expect(readStoreConfig(told).databaseUrl).toBe('postgres://llm0@postgres/llm0');
  });
});

describe('invalid values are refused with a hint', () => {
  const secret = { name: 'llm0', key: 'x' };
  test.each<readonly [Values, string]>([
    [{ env: { OPENAI_API_KEY: 'sk-plain' } }, 'env.OPENAI_API_KEY is a secret: use secrets.OPENAI_API_KEY'],
    [{ env: { OTEL_EXPORTER_OTLP_HEADERS: 'a=sk-plain' } }, 'use secrets.OTEL_EXPORTER_OTLP_HEADERS'],
    [{ env: { PGPASSWORD: 'sk-plain' } }, 'use secrets.PGPASSWORD'],
    [{ env: { BACKEND_X_URL: 'https://user:sk-plain@host/' } }, 'env.BACKEND_X_URL holds a password: use secrets.'],
    [{ env: { PORT: 1 } }, 'env.PORT is set by the chart: use gateway.port'],
    [{ env: { LOG_LEVEL: 'warn' } }, 'use logLevel'],
    [{ env: { GATEWAY_WORKERS: 0 } }, 'use workers'],
    [{ env: { DATA_DIR: '/x' } }, 'env.DATA_DIR is set by the chart'],
    [{ secrets: { ...SECRETS, ADMIN_PORT: secret } }, 'secrets.ADMIN_PORT is set by the chart: use admin.port'],
    [{ secrets: { ...SECRETS, X: secret }, env: { X: 'y' } }, 'X is in env and in secrets'],
    [{ secrets: { REDIS_PASSWORD: secret }, redis: { enabled: true } }, 'secrets.REDIS_PASSWORD is set by the chart'],
    [{ admin: { port: 8080 } }, 'admin.port and gateway.port are the same'],
    [{ gateway: { port: 9090 } }, 'admin.port and gateway.port are the same'],
  ])('%j', async (values, told) => {
    const refusal = await templateChart({ secrets: SECRETS, ...values }).then(() => 'it was taken', String);
    expect(refusal).toContain(told);
    expect(refusal).not.toContain('sk-plain');
  });

  test("with one port for all, the other is nobody's", async () => {
    expect(await render({ admin: { enabled: false, port: 8080 } })).not.toEqual([]);
  });
});

test('every secret that the gateway knows is read from the one Secret, and refused as a value', async () => {
  const told = valuesOf(await renderChart({}), 'Deployment');
  const secrets = secretNames();
  expect(secrets).toContain('METRICS_TOKEN');
  expect(secrets).toContain('EMBEDDING_SERVICE_KEY');
  expect(secrets.filter((name) => !Object.hasOwn(told, name))).toEqual([]);
  for (const name of secrets) {
    const refusal = await templateChart({ env: { [name]: 'x' } }).then(() => 'it was taken', String);
    expect(refusal).toContain(`env.${name} is a secret: use secrets.${name}`);
  }
  const env = containerOf(await renderChart({}), 'Deployment').env as readonly Variable[];
  const needed = env.filter(({ valueFrom }) => valueFrom !== undefined && !valueFrom.secretKeyRef.optional);
  expect(needed.map(({ name }) => name)).toEqual(['DATABASE_URL', 'REDIS_URL']);
});

/** By the names in the list of all variables. */
function secretNames(): readonly string[] {
  const names = [...EXAMPLES.matchAll(/^# ([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name ?? '');
  const isSecret = /_(?:KEY|KEY_ID|TOKEN|SECRET|PASSWORD|HEADERS|BEDROCK)$|^(?:DATABASE|REDIS)_URL$/;
  return names.filter((name) => isSecret.test(name) && name !== 'POSTGRES_PASSWORD');
}

test('a policy of the network lets the gateway reach what its variables name', async () => {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318',
    OLLAMA_BASE_URL: 'http://[fd00::1]:11434/v1',
    EMBEDDING_SERVICE_URL: 'http://vectors/embed',
    AZURE_OPENAI_ENDPOINT: 'https://x.openai.azure.com',
    PUBLIC_URL: 'https://llm.example.com:8443',
    CORS_ORIGINS: 'http://localhost:3000',
  };
  const policy = find(await render({ env, networkPolicy: { enabled: true } }), 'NetworkPolicy');
  const [, egress] = policy.spec.egress as readonly { readonly ports: readonly { readonly port: number }[] }[];
  expect(egress?.ports.map(({ port }) => port).toSorted((a, b) => a - b)).toEqual([80, 443, 4318, 5432, 6379, 11434]);
});
