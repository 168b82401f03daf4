import { beforeAll, describe, expect, test } from 'bun:test';
import { readConfig, readStoreConfig } from '../../../apps/gateway/src/config/config';
import { findHelm } from './chart-tools';
import { find, type Manifest, renderChart, SECRETS, type Values } from './render-chart';

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

  test('of other values likewise', async () => {
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
    env: { NODE_EXTRA_CA_CERTS: '/ca/ca.crt', BEDROCK_REGION: 'eu-central-1', MAX_BODY_BYTES: 20_971_520 },
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
    // Bedrock's keys are not there: settings of the gateway are none of its business.
    const told = Object.fromEntries(env.map(({ name, value }) => [name, value ?? 'postgres://llm0@postgres/llm0']));
    expect(() => readConfig(told)).toThrow('AWS_ACCESS_KEY_ID');
    expect(readStoreConfig(told).databaseUrl).toBe('postgres://llm0@postgres/llm0');
  });
});
