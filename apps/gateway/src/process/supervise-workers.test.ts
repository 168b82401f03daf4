import { expect, test } from 'bun:test';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@llm0/testing/stores/server-process';
import { pino } from 'pino';
import { WorkerSupervisor } from './supervise-workers';

const SLOW_WORKER = `
process.on('message', ({ type }) => type === 'apply-config' && Bun.write(process.env.TOLD + '/' + process.env.LLM0_WORKER, ''));
setTimeout(() => process.send({ type: 'ready', ports: { port: 1 }, secrets: {} }), 300);
`;

test('what comes while no worker is ready is passed on to the first that is', async () => {
  const folder = temporaryFolder('workers');
  const program = join(folder, 'worker.ts');
  await Bun.write(program, SLOW_WORKER);
  const told = join(folder, 'told');
  const env = { PATH: process.env.PATH, TOLD: told };
  const log = pino({ level: 'silent' });
  const supervisor = new WorkerSupervisor({ workers: 2, env, program, log, onReady: () => {} });
  try {
    supervisor.applyConfig();
    const started = supervisor.start();
    supervisor.applyConfig();
    await started;
    while (!existsSync(told)) await Bun.sleep(10);
    expect(readdirSync(told)).toEqual(['0']);
  } finally {
    await supervisor.stop();
    rmSync(folder, { recursive: true });
  }
});
