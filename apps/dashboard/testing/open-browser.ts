import { findChromium } from '@llm0/testing/stores/find-chromium';
import { temporaryFolder } from '@llm0/testing/stores/server-process';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

export interface BrowserUnderTest {
  /** A page in a fresh profile. */
  newPage(options?: PageOptions): Promise<Page>;
  /** A page that nobody looks at any more would go on asking the gateway. */
  closePages(besides?: Page): Promise<void>;
  /** Closes its pages. The process ends the browser itself. */
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

/** For all files of a process, which ends them; one for pages with touch, one for the others. */
const started = new Map<boolean, Promise<Browser>>();

function startedBrowser(hasTouch: boolean): Promise<Browser> {
  const browser = started.get(hasTouch) ?? startChromium(hasTouch);
  started.set(hasTouch, browser);
  return browser;
}

async function startChromium(hasTouch: boolean): Promise<Browser> {
  const home = temporaryFolder('browser');
  const env = { PATH: process.env.PATH ?? '', HOME: home };
  return chromium.launch({ executablePath: await findChromium({ hasTouch }), args: FLAGS, env });
}

/** Every page has its own cookies. */
export function openBrowser(): BrowserUnderTest {
  let contexts: BrowserContext[] = [];
  const closePages = async (besides?: Page) => {
    const kept = besides?.context();
    const left = contexts.filter((context) => context !== kept);
    contexts = contexts.filter((context) => context === kept);
    await Promise.all(left.map((context) => context.close()));
  };
  return {
    newPage: async ({
      width = 1280,
      height = 800,
      theme = 'light',
      timeZone = 'Europe/Berlin',
      hasTouch = false,
    } = {}) => {
      const browser = await startedBrowser(hasTouch);
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
    close: closePages,
  };
}
