import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '@llm0/testing/stores/find-chromium';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

export interface BrowserUnderTest {
  /** A page of its own in a browser of a fresh profile. */
  newPage(options?: PageOptions): Promise<Page>;
  /** A page that nobody looks at any more would go on asking the gateway. */
  closePages(besides?: Page): Promise<void>;
  close(): Promise<void>;
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  readonly timeZone?: string;
  readonly hasTouch?: boolean;
}

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];

/** Starts Chromium; every page has its own cookies. */
export async function openBrowser(): Promise<BrowserUnderTest> {
  const home = await mkdtemp(join(tmpdir(), 'llm0-browser-'));
  const executablePath = await findChromium();
  const browser = await chromium.launch({
    executablePath,
    args: FLAGS,
    env: { PATH: process.env.PATH ?? '', HOME: home },
  });
  let contexts: BrowserContext[] = [];
  const closePages = async (besides?: Page) => {
    const kept = besides?.context();
    const left = contexts.filter((context) => context !== kept);
    contexts = contexts.filter((context) => context === kept);
    await Promise.all(left.map((context) => context.close()));
  };
  return {
    newPage: async ({ width = 1280, height = 800, theme = 'light', timeZone = 'Europe/Berlin', hasTouch } = {}) => {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        timezoneId: timeZone,
        hasTouch,
        locale: 'en-US',
        acceptDownloads: true,
      });
      contexts.push(context);
      return context.newPage();
    },
    closePages,
    close: async () => {
      await closePages();
      await browser.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
