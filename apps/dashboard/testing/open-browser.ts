import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '@llm0/testing/stores/find-chromium';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

export interface BrowserUnderTest {
  /** A page of its own in a browser of a fresh profile. */
  newPage(options?: PageOptions): Promise<Page>;
  close(): Promise<void>;
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
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
  const contexts: BrowserContext[] = [];
  return {
    newPage: async ({ width = 1280, height = 800, theme = 'light' } = {}) => {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        timezoneId: 'Europe/Berlin',
        locale: 'en-US',
        acceptDownloads: true,
      });
      contexts.push(context);
      return context.newPage();
    },
    close: async () => {
      for (const context of contexts) await context.close();
      await browser.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
