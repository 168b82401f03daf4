import type { Producer } from '@platformatic/kafka';
import type { TopicSetting } from '../config/sinks';
import type { Part } from './part';

/** All replicas in sync have a row before it counts as written. */
const ALL_REPLICAS = -1;
const TIMEOUT_MS = 10_000;
/** A row begins with its id: Postgres writes short names first. */
const ID = /^\{"id": "([0-9a-f-]{36})"/;

type TextProducer = Producer<string, string, string, string>;

/** Sends rows as messages with their id as the key. A failure closes the connections; the next export opens others. */
export function createWriteTopic(): (sink: TopicSetting, part: Part) => Promise<void> {
  const producers = new Map<string, TextProducer>();

  return async (sink, { texts }) => {
    const { name, topic } = sink;
    const producer = producers.get(name) ?? (await openProducer(sink));
    producers.set(name, producer);
    try {
      for await (const text of texts) {
        const lines = text.trimEnd().split('\n');
        const messages = lines.map((value) => ({ topic, value, key: ID.exec(value)?.[1] ?? '' }));
        await producer.send({ messages, acks: ALL_REPLICAS });
      }
    } catch (error) {
      producers.delete(name);
      await producer.close(true).catch(() => {});
      throw new Error(`${sink.broker}: ${innermost(error).message}`, { cause: error });
    }
  };
}

async function openProducer({ broker, tls, sasl }: TopicSetting): Promise<TextProducer> {
  const { Producer, stringSerializers } = await import('@platformatic/kafka');
  return new Producer({
    ...{ clientId: 'llm0-gateway', bootstrapBrokers: [broker], serializers: stringSerializers },
    ...{ connectTimeout: TIMEOUT_MS, timeout: TIMEOUT_MS, retries: 1, autocreateTopics: false },
    ...(tls ? { tls: {} } : {}),
    ...(sasl === undefined ? {} : { sasl }),
  });
}

/** The library wraps what a broker said in errors of its retries. */
function innermost(error: unknown): Error {
  const inner =
    error instanceof AggregateError ? error.errors.at(-1) : error instanceof Error ? error.cause : undefined;
  if (inner instanceof Error) return innermost(inner);
  return error instanceof Error ? error : new Error(String(error));
}
