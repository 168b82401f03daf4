// Spans and metrics in a thread of their own. A message that cannot be read ends it: rows are counted as lost then.
import { parentPort } from 'node:worker_threads';
import { lowerPriority } from '@llm0/core/threads/lower-priority';
import { Exporter } from './exporter';
import type { FromThread, ToThread } from './messages';

lowerPriority(5);

/** A thread's heap grows by tens of megabytes before the engine looks after it; collecting takes three milliseconds here. */
const ROWS_A_COLLECTION = 2_048;
let rowsSince = 0;
const onEncoded = (rows: number) => {
  rowsSince += rows;
  if (rowsSince < ROWS_A_COLLECTION) return;
  rowsSince = 0;
  Bun.gc(true);
};

const post = (message: FromThread) => parentPort?.postMessage(message);
let exporter: Exporter | undefined;

parentPort?.on('message', (message: ToThread) => {
  if (message.type === 'settings') {
    exporter = new Exporter({ ...message, post, fetch: globalThis.fetch, nowMs: Date.now, onEncoded });
    return;
  }
  if (exporter === undefined) throw new Error('no settings came before the rest');
  if (message.type === 'rows') exporter.take(message);
  else if (message.type === 'metrics') exporter.sendMetrics(message);
  else if (message.type === 'bodies') exporter.giveBodies(message);
  else void exporter.close(message);
});
