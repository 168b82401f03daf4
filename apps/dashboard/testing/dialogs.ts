import type { Page } from 'playwright-core';

/** The open request: beside its list where there is room, else a drawer over it. */
export const requestDetail = (page: Page) => {
  const name = { name: 'Request', exact: true };
  return page.getByRole('region', name).or(page.getByRole('dialog', name));
};

/** Whatever is open. */
export const openedOne = (page: Page) => requestDetail(page).or(page.getByRole('dialog')).first();

export interface DialogWorld {
  readonly page: Page;
  readonly projectId: string;
  /** Text of the rows that are opened: of a key, a customer and a model. */
  readonly row: { readonly key: string; readonly customer: string; readonly model: string };
}

interface DialogOpened {
  readonly name: string;
  readonly path: string | ((world: DialogWorld) => string);
  /** Clicks until it is there. */
  readonly open: (world: DialogWorld) => Promise<unknown>;
}

const click = ({ page }: DialogWorld, name: string | RegExp) => page.getByRole('button', { name }).last().click();
const tab = ({ page }: DialogWorld, name: string) => page.getByRole('tab', { name }).click();
const firstRow = ({ page }: DialogWorld) =>
  page.locator('tbody tr:has([data-row])').first().locator('td').first().click();
const rowOf = ({ page }: DialogWorld, text: string | RegExp) =>
  page.locator('tbody tr:has(a, [data-row])', { hasText: text }).first().locator('a, [data-row]').first().click();
const project = ({ projectId }: DialogWorld) => `/projects/${projectId}`;
const keys = (world: DialogWorld) => `${project(world)}?tab=keys`;

/** Several steps, one after the other. */
const steps =
  (...all: readonly ((world: DialogWorld) => Promise<unknown>)[]) =>
  async (world: DialogWorld) => {
    for (const step of all) await step(world);
  };
const press = (name: string | RegExp) => (world: DialogWorld) => click(world, name);
const go = (name: string) => (world: DialogWorld) => tab(world, name);
const keyRow = (world: DialogWorld) => rowOf(world, world.row.key);
const shown = (text: string) => (world: DialogWorld) => world.page.getByText(text).first().waitFor();

/** The form of a new server, at the address of the one called docs. */
async function fillServer({ page }: DialogWorld): Promise<void> {
  const url = await page.evaluate(async () => {
    const { data } = await (await fetch('/admin/v1/mcp/servers?alias=docs')).json();
    return String(data[0]?.url);
  });
  await page.getByLabel('Alias').fill('handbook');
  await page.getByLabel('URL').fill(url);
}

/** Every dialog of the dashboard, and how it is opened. */
export const DIALOGS: readonly DialogOpened[] = [
  { name: 'new-project', path: '/projects', open: press('New project') },
  { name: 'project-profile', path: project, open: press('Name and labels') },
  { name: 'delete-project', path: project, open: steps(go('Danger'), press('Delete project')) },
  { name: 'new-key', path: keys, open: press('New key') },
  { name: 'key', path: keys, open: keyRow },
  { name: 'revoke-key', path: keys, open: steps(keyRow, press('Revoke')) },
  {
    name: 'shown-once',
    path: keys,
    open: steps(keyRow, press('Rotate'), press('Rotate now'), shown('cannot be shown again')),
  },
  {
    name: 'customer',
    path: '/customers?range=7d',
    open: (world) => rowOf(world, world.row.customer),
  },
  { name: 'request', path: '/requests?outcome=success&range=7d', open: steps(firstRow, shown('Gateway overhead')) },
  {
    name: 'failed-request',
    path: '/requests?outcome=error&outcome=caller_error&range=7d',
    open: steps(firstRow, shown('Gateway overhead')),
  },
  {
    name: 'price',
    path: '/models',
    open: async (world) => {
      await world.page.getByLabel('Find a model').fill(world.row.model.slice(0, 20));
      await rowOf(world, world.row.model.slice(0, 20));
    },
  },
  { name: 'new-price', path: '/models', open: press('Price a model') },
  { name: 'import-prices', path: '/models', open: press('Import prices') },
  { name: 'purge', path: '/cache', open: press('Purge') },
  { name: 'provider', path: '/routing', open: steps(press(/not set up$/), (world) => rowOf(world, 'openai')) },
  { name: 'new-provider', path: '/routing', open: press('Add provider') },
  { name: 'chain', path: '/routing', open: steps(go('Fallback chains'), press('Edit')) },
  { name: 'alias', path: '/routing', open: steps(go('Aliases'), press('Edit')) },
  { name: 'delete-alias', path: '/routing', open: steps(go('Aliases'), press('Edit'), press('Delete')) },
  { name: 'new-alias', path: '/routing', open: steps(go('Aliases'), press('New alias')) },
  { name: 'new-mcp-server', path: '/tools', open: press('Add server') },
  {
    name: 'pick-mcp-tools',
    path: '/tools',
    open: steps(press('Add server'), fillServer, press('Show its tools'), shown('picked')),
  },
  { name: 'mcp-server', path: '/tools', open: steps((world) => rowOf(world, 'docs'), shown('Approved')) },
  { name: 'mcp-grants', path: '/tools', open: steps((world) => rowOf(world, 'crm'), shown('Make a consent link')) },
  { name: 'tool-call', path: '/tools?tab=calls&range=24h', open: steps(firstRow, shown('in total')) },
  { name: 'new-token', path: '/settings', open: press('New token') },
  { name: 'revoke-token', path: '/settings', open: firstRow },
  { name: 'alert', path: '/alerts', open: firstRow },
  { name: 'delete-alert', path: '/alerts', open: steps(firstRow, press('Delete')) },
  { name: 'new-alert', path: '/alerts', open: press('New alert') },
  { name: 'audit', path: '/audit', open: (world) => rowOf(world, /raised|created project/) },
  { name: 'playground-code', path: '/playground', open: press('View code') },
  { name: 'palette', path: '/projects', open: ({ page }) => page.keyboard.press('ControlOrMeta+k') },
];

export const dialogPath = ({ path }: DialogOpened, world: DialogWorld) =>
  typeof path === 'string' ? path : path(world);
