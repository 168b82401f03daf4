import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type KafkaServer, startKafka } from '@llm0/testing/kafka/start-kafka';
import { Admin, Consumer, stringDeserializers } from '@platformatic/kafka';
import type { TopicSetting } from '../config/sinks';
import { createWriteTopic } from './write-topic';

let kafka: KafkaServer;
const write = createWriteTopic();

beforeAll(async () => {
  kafka = await startKafka();
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [kafka.open] });
  await admin.createTopics({ topics: ['rows'], partitions: 3, replicas: 1 });
  await admin.close();
}, 180_000);
afterAll(() => kafka?.stop());

const sinkAt = (broker: string, more: Partial<TopicSetting> = {}): TopicSetting => ({
  ...{ kind: 'kafka', name: `${broker} ${JSON.stringify(more)}`, broker, topic: 'rows', tls: false, sasl: undefined },
  ...{ everyMs: 1000, withBodies: false, ...more },
});
const sent: string[] = [];
const part = (batches: number, rows: number) => ({
  key: 'x',
  texts: (async function* () {
    for (let batch = 0; batch < batches; batch++) {
      const ids = Array.from({ length: rows }, () => crypto.randomUUID());
      sent.push(...ids);
      yield `${ids.map((id) => `{"id": "${id}", "model": "m"}`).join('\n')}\n`;
    }
  })(),
});

test('each row is a message under its id, also with a password', async () => {
  await write(sinkAt(kafka.open), part(4, 500));
  const me = { mechanism: 'PLAIN', username: 'me', password: 'p@ss' } as const;
  await write(sinkAt(kafka.sasl, { sasl: me }), part(1, 1));
  const options = { groupId: 'test', clientId: 'test', bootstrapBrokers: [kafka.open] };
  const consumer = new Consumer({ ...options, deserializers: stringDeserializers });
  const stream = await consumer.consume({ topics: ['rows'], mode: 'earliest', autocommit: false });
  // At least once, so a row may come twice.
  const found = new Set<string>();
  for await (const { key, value } of stream) {
    expect((JSON.parse(value) as { id: string }).id).toBe(key);
    if (found.add(key).size === sent.length) break;
  }
  await consumer.close(true);
  expect([...found].sort()).toEqual(sent.sort());
}, 60_000);

test.each<[string, (at: KafkaServer) => TopicSetting, RegExp]>([
  ['no broker', () => sinkAt('127.0.0.1:1'), /127\.0\.0\.1:1: /],
  ['no topic', ({ open }) => sinkAt(open, { topic: 'nope' }), /nope/],
  [
    'a wrong password',
    ({ sasl }) => sinkAt(sasl, { sasl: { mechanism: 'PLAIN', username: 'me', password: 'wrong' } }),
    /[Aa]uthentication/,
  ],
])(
  '%s: the error says so, without the password',
  async (_, sinkOf, reason) => {
    const failure = await write(sinkOf(kafka), part(1, 1)).catch((error: Error) => error.message);
    expect(String(failure)).toMatch(reason);
    expect(String(failure)).not.toContain('wrong');
  },
  60_000,
);
