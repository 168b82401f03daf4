// For developers: `eval` the printed lines in another terminal, then `bun test` as often as you like. Ctrl-C ends it.
import { startTestStores } from './start-test-stores';

const stores = await startTestStores();
for (const [name, value] of Object.entries(stores.stores[0]?.env ?? {})) console.log(`export ${name}=${value}`);
if (stores.missing !== null) console.error(stores.missing);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => void stores.stop().finally(() => process.exit(0)));
}
setInterval(() => {}, 1 << 30);
