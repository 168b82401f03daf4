import { parseArgs } from 'node:util';
import { startFakeUpstream } from './start-fake-upstream';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, record: { type: 'boolean', default: false } },
});
const upstream = startFakeUpstream({ port: Number(values.port), record: values.record });
process.stdout.write(`fake upstream: ${upstream.url}\nready ${upstream.port}\n`);
const stop = () => void upstream.stop().then(() => process.exit(0));
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
