import { afterAll, beforeAll, expect, test } from 'bun:test';
import { linesOf, startFakeS3 } from '../fake-s3/start-fake-s3';
import { startCollector } from '../fake-upstream/start-collector';
import { createTestKey } from '../stores/start-gateway';
import { ask, postChat, startEnvironment, type TestEnvironment, waitUntil } from './environment';

const s3 = startFakeS3();
const collector = startCollector();
const SPANS = collector.url.replace('http://', 'otlp+http://pk:s3cret@');
let world: TestEnvironment;
let apiKey: string;

beforeAll(async () => {
  const env = {
    ...{ LOG_SINKS: `s3://logs/gateway?every=1s,${SPANS}?bodies=true`, LOG_BODIES: 'true', S3_ENDPOINT: s3.url },
    ...{ AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_REGION: 'us-east-1' },
  };
  world = await startEnvironment({ kind: 'real', apart: false, env });
  ({ apiKey } = await createTestKey(world.gateway));
}, 60_000);
afterAll(async () => {
  await world?.close();
  await Promise.all([s3.stop(), collector.stop()]);
});

const asked: string[] = [];
async function send(count: number) {
  for (let i = 0; i < count; i++) {
    const response = await postChat(world.gateway, apiKey, ask(`question ${asked.length}`));
    await response.text();
    asked.push(response.headers.get('x-request-id') ?? '');
  }
}
const exported = () => [...s3.objects.values()].flatMap(linesOf).map(({ id }) => String(id));
const sinksNow = async () =>
  ((await (await fetch(`${world.gateway.url}/healthz`)).json()) as { log_sinks: object[] }).log_sinks;
async function untilSinks(areSo: (sinks: object[] | undefined) => boolean): Promise<void> {
  for (let i = 0; i < 400; i++) {
    if (areSo(await sinksNow())) return;
    await Bun.sleep(100);
  }
  throw new Error(`the sinks never were so: ${areSo}`);
}

const spanOf = (id: string) =>
  collector.received.spans.find(({ attributes }) => attributes['llm0.request.id'] === id)?.attributes;
const haveAll = () => asked.every((id) => exported().includes(id) && spanOf(id) !== undefined);

test('rows reach bucket and collector, also those of an outage, and the gateway says how far it is', async () => {
  // The first look creates the sink: from then on, rows are exported.
  await untilSinks((sinks) => sinks?.length === 2);
  await send(5);
  await waitUntil(haveAll, 20_000);
  s3.away = true;
  collector.told.answer = () => new Response('', { status: 503 });
  await send(5);
  await untilSinks((sinks) => JSON.stringify(sinks).match(/"ok":false/g)?.length === 2);
  const name = `${collector.url.replace('http://', 'otlp+http://')}/v1/traces`;
  expect(await sinksNow()).toMatchObject([
    { name, problem: 'the collector answered with status 503' },
    { name: 's3://logs/gateway', problem: expect.any(String) },
  ]);
  expect(await (await fetch(`${world.gateway.url}/metrics`)).text()).toMatch(
    /llm0_log_sink_lag_ms\{sink="s3:.*\} \d{3,}/,
  );
  expect((await fetch(`${world.gateway.url}/healthz`)).status).toBe(200);
  s3.away = false;
  collector.told.answer = () => new Response();
  await waitUntil(haveAll, 40_000);
  expect(exported().sort()).toEqual([...asked].sort());
  expect(collector.received.headers[0]?.get('authorization')).toBe(`Basic ${btoa('pk:s3cret')}`);
  expect(String(spanOf(asked[0] ?? '')?.['gen_ai.input.messages'])).toContain('question 0');
}, 120_000);
