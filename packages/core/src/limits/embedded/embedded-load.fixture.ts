/** Serves requests until it is killed and prints the id of each one that was answered. Argument: the data folder. */

import { requestOf, StoredRows, settlementOf } from '../store-rows.fixture';
import { EmbeddedHotStore } from './embedded-hot-store';

const store = new EmbeddedHotStore({ dataDir: process.argv[2] ?? '', compactBytes: 200_000 });
await store.start(new StoredRows());
for (let n = 0; ; n++) {
  const request = requestOf({ customerId: `customer-${n % 7}` });
  const decision = await store.admit(request);
  if (decision.type !== 'admitted') throw new Error(decision.type);
  if (n % 50 === 0) continue;
  await store.settle(settlementOf(request, decision.nowMs, { costNanoUsd: n }));
  process.stdout.write(`${request.requestId}\n`);
  if (n % 20 === 0) await Bun.sleep(0);
}
