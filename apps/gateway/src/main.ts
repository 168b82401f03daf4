import { HangUps, readsFileOnHangUp } from './process/signals';

const hangUps = new HangUps();
if (readsFileOnHangUp(process.env)) hangUps.take();
// The rest takes a while to load; until it had, a SIGHUP would end the process.
const { startProcess } = await import('./process/start-process');
await startProcess({ env: process.env, program: import.meta.path, hangUps });
