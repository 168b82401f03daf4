import { ResponseCollector } from '../collect';
import type { ChatEvent, EventBatch } from '../event';
import type { ChatResponse } from '../response';

/** All of an answer, once its stream has ended. Rejects with the stream's own error. */
export async function collectBatches(batches: AsyncIterable<EventBatch>): Promise<ChatResponse> {
  const collector = new ResponseCollector();
  for await (const batch of batches) collector.add(batch.events);
  return collector.response();
}

/** Collects events that are all there already. */
export function collectEvents(events: readonly ChatEvent[]): ChatResponse {
  const collector = new ResponseCollector();
  collector.add(events);
  return collector.response();
}
