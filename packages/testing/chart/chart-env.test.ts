import { beforeAll, describe, expect, test } from 'bun:test';
import { readConfig } from '../../../apps/gateway/src/config/config';
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
