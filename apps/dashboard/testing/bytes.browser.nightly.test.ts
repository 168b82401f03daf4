import { describe, expect, test } from 'bun:test';
import { callAdmin, type GatewayProcess } from '@llm0/testing/stores/start-gateway';
import type { Page } from 'playwright-core';
import { DIALOGS, type DialogWorld, dialogPath, openedOne } from './dialogs';
import { PAGES } from './pages';
import { settled } from './settled';
import { shareDashboard } from './share-dashboard';

const KIB = 1024;
const COLD_KIB = 300;
const WARM_KIB = 60;
const TARGETS = [
  { provider: 'openai', model: 'gpt-4o-mini', weight: 3 },
  { provider: 'anthropic', model: 'claude-haiku-4-5', weight: 1 },
];

let world: Omit<DialogWorld, 'page'>;
const dashboard = shareDashboard({ fill, timeoutMs: 30_000 });

async function fill(gateway: GatewayProcess): Promise<void> {
  await callAdmin(gateway, '/demo-data', { body: { days: 14, requests_a_day: 600 } });
  await callAdmin(gateway, '/aliases', { body: { alias: 'fast', strategy: 'weighted', targets: TARGETS } });
  const targets = TARGETS.map(({ provider, model }) => ({ provider, model }));
  await callAdmin(gateway, '/chains/gpt-4o-mini', { method: 'PUT', body: { targets } });
  await callAdmin(gateway, '/providers', { body: { name: 'openai', key: 'fake' } }).catch(() => {});
  const { data } = await callAdmin<{ data: { id: string; name: string }[] }>(gateway, '/projects');
  const projectId = data.find(({ name }) => name === 'Support triage')?.id ?? '';
  world = { projectId, row: { key: 'batch', customer: 'acme', model: 'claude-sonnet-4-5' } };
}

/** Bytes over the wire from now on; files of other pages, loaded ahead while idle, aren't asked for. */
async function countBytes(page: Page): Promise<() => number> {
  await page.addInitScript(() => {
    window.requestIdleCallback = () => 0;
  });
  const session = await page.context().newCDPSession(page);
  let bytes = 0;
  await session.send('Network.enable');
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  return () => bytes;
}

/** KiB of a first visit and, after it, of another one. */
async function weigh(visit: (page: Page) => Promise<unknown>) {
  const { page } = await dashboard.openApart();
  const bytes = await countBytes(page);
  await visit(page);
  await settled(page);
  const cold = bytes();
  await page.goto('about:blank');
  const before = bytes();
  await visit(page);
  await settled(page);
  const weight = { cold: Math.round(cold / KIB), warm: Math.round((bytes() - before) / KIB) };
  await page.close();
  return weight;
}

/** Of the tools' servers, of rows that only a failure or a person makes, or once. */
const ELSEWHERE = ['tool-call', 'revoke-token', 'alert', 'delete-alert', 'audit', 'shown-once'];
const isHere = ({ name, path }: (typeof DIALOGS)[number]) =>
  !ELSEWHERE.includes(name) && !(typeof path === 'string' && path.startsWith('/tools'));

describe('over the wire', () => {
  test(`every page takes ${COLD_KIB} KiB cold and ${WARM_KIB} KiB warm at most, its dialogs included`, async () => {
    const heavy: string[] = [];
    const report = (name: string, { cold, warm }: { cold: number; warm: number }) => {
      if (process.env.SHOW_BYTES !== undefined) process.stdout.write(`${name}: ${cold} KiB cold, ${warm} KiB warm\n`);
      if (cold > COLD_KIB || warm > WARM_KIB) heavy.push(`${name}: ${cold} KiB cold, ${warm} KiB warm`);
    };
    for (const { name, path, heading } of PAGES) {
      const weight = await weigh(async (page) => {
        await page.goto(dashboard.gateway.url + path);
        await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      });
      report(name, weight);
    }
    for (const dialog of DIALOGS.filter(isHere)) {
      const weight = await weigh(async (page) => {
        const there = { ...world, page };
        await page.goto(dashboard.gateway.url + dialogPath(dialog, there));
        await page.getByRole('heading', { level: 1 }).waitFor();
        await settled(page);
        await dialog.open(there);
        await openedOne(page).waitFor();
      });
      report(`dialog ${dialog.name}`, weight);
    }
    expect(heavy).toEqual([]);
  }, 300_000);
});
