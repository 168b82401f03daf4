import type { Page } from 'playwright-core';
import { Keyboard } from './keyboard';
import type { PageOptions } from './open-browser';
import { keepsSettled } from './settled';
import { type Where, watch } from './watch-page';

const PHONE_BELOW = 768;

/** Signs in by keyboard; `heading`: what is there then. */
export async function sitDown({ browser, gateway }: Where, options: PageOptions, heading: string) {
  const page = await browser.newPage({ height: 900, ...options });
  page.setDefaultTimeout(8000);
  keepsSettled(page);
  const problems = watch(page, gateway);
  await page.goto(gateway.url);
  // A busy machine draws it long after it has it: until then Tab finds nothing.
  await page.getByLabel('Admin token').waitFor();
  const keys = await Keyboard.of(page);
  await keys.write('Admin token', gateway.adminToken);
  await keys.press('Enter');
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await keys.landed('signing in');
  return { page, keys, problems };
}

/** Through the menu, which a phone opens first. */
export async function goTo(page: Page, keys: Keyboard, name: string): Promise<void> {
  if ((page.viewportSize()?.width ?? 0) < PHONE_BELOW) await keys.choose('Menu', { role: 'button' });
  await keys.choose(name, { role: 'link' });
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await keys.landed(`going to ${name}`);
}

/** As a clock on the wall there shows it. */
export const localStamp = (at: string, timeZone: string) =>
  new Date(at).toLocaleString('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' });
