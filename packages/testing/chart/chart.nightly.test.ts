import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readConfig } from '../../../apps/gateway/src/config/config';
import { createCheck } from './check-manifests';
import { findHelm, findKubeconform, findSchemas, hasKubeconform, KUBERNETES_VERSIONS, runTool } from './install-helm';
import {
  CHART,
  find,
  lintChart,
  type Manifest,
  renderChart,
  SECRETS,
  templateChart,
  type Values,
} from './render-chart';

/** Fetching or building the tools takes some minutes, once. */
const ONCE_MS = 900_000;

const everything = {
  secrets: { ...SECRETS, METRICS_TOKEN: { name: 'llm0', key: 'metrics', optional: true } },
  image: { digest: `sha256:${'0'.repeat(64)}` },
  imagePullSecrets: [{ name: 'pull' }],
  env: { FAILOVER_MODE: 'cloud_only', TRUST_PROXY_HOPS: 1, LOG_BODIES: true },
  autoscaling: { targetRequests: 100 },
  serviceAccount: { annotations: { role: 'x' } },
  podAnnotations: { a: 'b' },
  podLabels: { team: 'search' },
  priorityClassName: 'high',
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'gpu', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
  extraVolumes: [{ name: 'tls', secret: { secretName: 'tls' } }],
  extraVolumeMounts: [{ name: 'tls', mountPath: '/tls', readOnly: true }],
  migration: { annotations: { note: 'x' }, resources: { limits: { memory: '256Mi' } } },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  networkPolicy: {
    enabled: true,
    gatewayFrom: [{ namespaceSelector: {} }],
    adminFrom: [{ podSelector: { matchLabels: { app: 'prometheus' } } }],
    extraEgress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
  },
  ingress: {
    enabled: true,
    className: 'nginx',
    annotations: { a: 'b' },
    hosts: [{ host: 'llm.example.com', paths: [{ path: '/v1' }] }, { host: 'other.example.com' }],
    tls: [{ hosts: ['llm.example.com'], secretName: 'tls' }],
  },
  httpRoute: { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['llm.example.com'] },
} satisfies Values;

/** Ways to use it that every check below is made for. */
const CASES: Readonly<Record<string, Values>> = {
  'as it is': {},
  'with stores of its operator': { secrets: SECRETS },
  'with everything': everything,
  'for a trial': {
    postgres: { enabled: true, storageClassName: 'fast' },
    redis: { enabled: true },
    networkPolicy: { enabled: true },
  },
  'with TLS of its own': {
    secrets: SECRETS,
    env: { TLS_ENABLED: true, TLS_CERT_FILE: '/tls/tls.crt', TLS_KEY_FILE: '/tls/tls.key' },
    serviceMonitor: { enabled: true },
  },
  'with all switched off': {
    secrets: SECRETS,
    admin: { enabled: false },
    autoscaling: { enabled: false },
    podDisruptionBudget: { enabled: false },
    migration: { enabled: false },
    serviceAccount: { create: false },
    serviceMonitor: { enabled: true },
  },
};

/** What a Secret would give. */
const STANDS_FOR: Readonly<Record<string, string>> = {
  ADMIN_TOKEN: 'an-admin-token-of-a-secret',
  METRICS_TOKEN: 'a-metrics-token-of-a-secret',
  ENCRYPTION_KEY: '0123456789abcdef'.repeat(4),
  DATABASE_URL: 'postgres://llm0@postgres/llm0',
  REDIS_URL: 'redis://redis',
  REDIS_PASSWORD: 'a-password',
  OPENAI_API_KEY: 'sk-of-a-secret',
};

describe('the chart', () => {
  const rendered = new Map<string, readonly Manifest[]>();
  let schemas = '';
  beforeAll(async () => {
    await findHelm();
    schemas = await findSchemas();
    for (const [name, values] of Object.entries(CASES)) rendered.set(name, await renderChart(values));
  }, ONCE_MS);
  const of = (name: string) => rendered.get(name) ?? [];

  test.each(Object.keys(CASES))('%s passes helm lint', async (name) => {
    expect(await lintChart(CASES[name] ?? {})).toContain('0 chart(s) failed');
  });

  test.each(KUBERNETES_VERSIONS)('is what Kubernetes %s takes, without a field too many', (version) => {
    const check = createCheck(schemas, version);
    for (const manifests of rendered.values()) {
      expect(manifests.length).toBeGreaterThan(2);
      for (const manifest of manifests) expect(check(manifest)).toBeUndefined();
    }
    // The check sees what is wrong.
    const deployment = find(of('with everything'), 'Deployment');
    expect(check({ ...deployment, spec: { ...deployment.spec, replicaz: 2 } })).toContain('additional properties');
    const route = find(of('with everything'), 'HTTPRoute');
    expect(
      check({ ...route, spec: { ...route.spec, rules: [{ backendRefs: [{ name: 'a', port: 'b' }] }] } }),
    ).toContain('integer');
  });

  // Where it cannot be had, the same schemas were asked above.
  const byKubeconform = () => {
    let folder = '';
    beforeAll(async () => {
      await findKubeconform();
      folder = await mkdtemp(join(tmpdir(), 'llm0-chart-'));
    }, ONCE_MS);
    afterAll(() => rm(folder, { recursive: true, force: true }));

    test.each(KUBERNETES_VERSIONS)('it is valid for %s', async (version) => {
      const files = await Promise.all(
        Object.values(CASES).map(async (values, index) => {
          const file = join(folder, `${index}.yaml`);
          await Bun.write(file, await templateChart(values));
          return file;
        }),
      );
      const location = `${schemas}/${version}/{{.ResourceKind}}{{.KindSuffix}}.json`;
      // The other two are checked above, against their own.
      const options = ['-strict', '-summary', '-skip', 'HTTPRoute,ServiceMonitor', '-schema-location', location];
      const told = await runTool([await findKubeconform(), ...options, ...files]);
      expect(told).toContain('Invalid: 0, Errors: 0');
      expect(told).not.toContain('Valid: 0');
    });
  };
  if (hasKubeconform()) describe('by kubeconform', byKubeconform);

  test('every container is closed: user, root, rights, no token of the cluster', () => {
    const pods = [...rendered.values()].flat().flatMap((one) => one.spec?.template?.spec ?? []);
    expect(pods.length).toBeGreaterThan(6);
    for (const pod of pods) {
      expect(pod.automountServiceAccountToken).toBe(false);
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          privileged: false,
          capabilities: { drop: ['ALL'] },
        });
        const mounted = container.volumeMounts.map((one: { mountPath: string }) => one.mountPath);
        expect(mounted).toEqual(expect.arrayContaining(['/data', '/tmp']));
      }
    }
  });

  test('secrets come from Secrets, and no variable is there twice', () => {
    for (const manifests of rendered.values()) {
      const [container] = find(manifests, 'Deployment').spec.template.spec.containers;
      const names = container.env.map((one: { name: string }) => one.name);
      expect(new Set(names).size).toBe(names.length);
      for (const { name, value } of container.env as { name: string; value?: string }[]) {
        if (/TOKEN|_KEY$|PASSWORD/.test(name)) expect(value).toBeUndefined();
        if (name === 'DATABASE_URL' && value !== undefined) expect(value).toContain('$(TRIAL_POSTGRES_PASSWORD)');
      }
    }
  });

  test('the gateway takes all that it is told, and with TLS everybody asks in TLS', () => {
    for (const manifests of rendered.values()) {
      const [container] = find(manifests, 'Deployment').spec.template.spec.containers;
      const told = (container.env as { name: string; value?: string }[]).map(({ name, value }) => [
        name,
        value ?? STANDS_FOR[name],
      ]);
      expect(readConfig(Object.fromEntries(told)).misspeltNames).toEqual([]);
    }
    const manifests = of('with TLS of its own');
    const [container] = find(manifests, 'Deployment').spec.template.spec.containers;
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      expect(container[probe].httpGet.scheme).toBe('HTTPS');
    }
    expect(find(manifests, 'ServiceMonitor').spec.endpoints[0].scheme).toBe('https');
  });

  test('by itself it takes all from one Secret, of which the stores alone are needed', () => {
    const sources = (name: string) => {
      const [container] = find(of(name), 'Deployment').spec.template.spec.containers;
      const taken = (container.env as { name: string; valueFrom?: { secretKeyRef: Record<string, unknown> } }[]).filter(
        (one) => one.valueFrom,
      );
      return new Map(taken.map((one) => [one.name, one.valueFrom?.secretKeyRef]));
    };
    const plain = sources('as it is');
    expect(plain.get('DATABASE_URL')).toEqual({ name: 'llm0', key: 'DATABASE_URL' });
    expect(plain.get('REDIS_URL')).toEqual({ name: 'llm0', key: 'REDIS_URL' });
    for (const name of ['ADMIN_TOKEN', 'ENCRYPTION_KEY', 'OPENAI_API_KEY', 'FIREWORKS_API_KEY']) {
      expect(plain.get(name)).toEqual({ name: 'llm0', key: name, optional: true });
    }
    const [migrate] = find(of('as it is'), 'Job').spec.template.spec.containers;
    expect(migrate.env).toContainEqual({
      name: 'DATABASE_URL',
      valueFrom: { secretKeyRef: { name: 'llm0', key: 'DATABASE_URL' } },
    });
    // An entry of its own goes before, and a trial has a Secret of its own.
    expect(sources('with everything').get('OPENAI_API_KEY')).toEqual({ name: 'llm0', key: 'openai_api_key' });
    expect(sources('for a trial').get('ADMIN_TOKEN')).toEqual({ name: 'gw-llm0-trial', key: 'admin-token' });
  });

  test('the grace period covers all that a pod does at its end', async () => {
    const drain = { preStopSeconds: 7, timeoutSeconds: 120, handOverSeconds: 20 };
    const { spec } = find(await renderChart({ secrets: SECRETS, drain }), 'Deployment').spec.template;
    const [container] = spec.containers;
    expect(spec.terminationGracePeriodSeconds).toBe(147);
    expect(container.lifecycle.preStop.exec.command).toEqual(['sleep', '7']);
    expect(container.env).toContainEqual({ name: 'DRAIN_TIMEOUT', value: '120s' });
  });

  test('the migration comes before an install or upgrade, by the image that is rolled out', () => {
    const manifests = of('with everything');
    const job = find(manifests, 'Job');
    const [gateway] = find(manifests, 'Deployment').spec.template.spec.containers;
    const [migrate] = job.spec.template.spec.containers;
    expect(job.metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade');
    expect(migrate).toMatchObject({ image: gateway.image, command: ['bun', 'apps/gateway/bin/llm0.ts', 'migrate'] });
    // A hook comes before anything of the release is there.
    expect(job.spec.template.spec.serviceAccountName).toBeUndefined();
    expect(find(of('for a trial'), 'Job').metadata.annotations?.['helm.sh/hook']).toBe('pre-upgrade');
  });

  test('Services, scaling, budget and monitor mean the same pods', () => {
    const manifests = of('with everything');
    const labels = find(manifests, 'Deployment').spec.template.metadata.labels;
    const isOfPods = (selector: Record<string, string>) =>
      Object.entries(selector).every(([name, value]) => labels[name] === value);
    for (const suffix of ['gw-llm0', '-admin'])
      expect(isOfPods(find(manifests, 'Service', suffix).spec.selector)).toBe(true);
    expect(isOfPods(find(manifests, 'PodDisruptionBudget').spec.selector.matchLabels)).toBe(true);
    expect(isOfPods(find(manifests, 'NetworkPolicy').spec.podSelector.matchLabels)).toBe(true);
    expect(find(manifests, 'HorizontalPodAutoscaler').spec).toMatchObject({
      scaleTargetRef: { name: 'gw-llm0' },
      metrics: [{ resource: { name: 'cpu' } }, { pods: { metric: { name: 'llm0_requests_in_flight' } } }],
    });
    const monitor = find(manifests, 'ServiceMonitor').spec;
    const watched = find(manifests, 'Service', '-admin');
    expect(watched.metadata.labels).toMatchObject(monitor.selector.matchLabels);
    expect(monitor.endpoints[0]).toMatchObject({ port: 'admin', authorization: { credentials: { key: 'metrics' } } });
    // What scales does not also have a number of its own.
    expect(find(manifests, 'Deployment').spec.replicas).toBeUndefined();
    expect(find(of('with all switched off'), 'Deployment').spec.replicas).toBe(2);
  });

  test.each<readonly [Values, string]>([
    [{ secretName: '' }, 'secrets.DATABASE_URL is needed'],
    [{ secretName: '', postgres: { enabled: true } }, 'secrets.REDIS_URL is needed'],
    [{ secrets: { ...SECRETS, ADMIN_TOKEN: 'plain-text-token' } }, 'ADMIN_TOKEN'],
    [{ secrets: SECRETS, env: { OPENAI_API_KEY: 'sk-plain' } }, 'OPENAI_API_KEY'],
    [{ secrets: SECRETS, env: { PORT: 1 } }, 'PORT'],
    [{ secrets: SECRETS, replicas: 3 }, 'replicas'],
    [{ secrets: SECRETS, autoscaling: { minReplicas: 5, maxReplicas: 2 } }, 'minReplicas'],
    [{ secrets: SECRETS, autoscaling: { targetCPUUtilizationPercentage: null } }, 'targetRequests'],
    [{ secrets: SECRETS, ingress: { enabled: true } }, 'ingress.hosts'],
    [{ secrets: SECRETS, httpRoute: { enabled: true } }, 'parentRefs'],
    [{ secrets: SECRETS, drain: { timeoutSeconds: '30s' } }, 'timeoutSeconds'],
    [{ secrets: SECRETS, fullnameOverride: 'Bad_Name' }, 'fullnameOverride'],
    [{ secrets: SECRETS, nameOverride: '1st' }, 'nameOverride'],
  ])('%j is refused, by name', async (values, named) => {
    const refusal = await templateChart(values).then(String, String);
    expect(refusal).toContain(named);
    expect(refusal).not.toContain('sk-plain');
    expect(refusal).not.toContain('plain-text-token');
  });

  test('a cluster older than the README says is refused', async () => {
    const template = [await findHelm(), 'template', 'gw', CHART, '--set', 'secretName=llm0', '--kube-version'];
    expect(await runTool([...template, '1.28.9']).then(String, String)).toContain('kubeVersion');
    expect(await runTool([...template, '1.29.3-gke.100'])).toContain('kind: Deployment');
  });

  test('its README has every value, its schema too', async () => {
    const values = parse(await Bun.file(join(CHART, 'values.yaml')).text()) as Record<string, unknown>;
    const readme = await Bun.file(join(CHART, 'README.md')).text();
    const schema = JSON.parse(await Bun.file(join(CHART, 'values.schema.json')).text());
    const missing = Object.entries(values).flatMap(([name, value]) => {
      const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value) && name !== 'resources';
      const fields = isGroup ? Object.keys(value).map((field) => `${name}.${field}`) : [];
      return (fields.length === 0 ? [name] : fields).filter((path) => !readme.includes(path));
    });
    expect(missing).toEqual([]);
    expect(Object.keys(values).filter((name) => !Object.hasOwn(schema.properties, name))).toEqual([]);
  });

  test('versions of chart, image and gateway are the same', async () => {
    const chart = parse(await Bun.file(join(CHART, 'Chart.yaml')).text());
    const { version } = await Bun.file(join(CHART, '../../../package.json')).json();
    expect(chart).toMatchObject({ version, appVersion: version });
  });
});
