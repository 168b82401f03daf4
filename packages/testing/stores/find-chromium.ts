import { CannotStartError, installPackages } from './server-process';

/** Draws no window around a page, which takes a third of a browser's CPU. */
const SHELL = 'chromium-headless-shell';
const NAMES = [SHELL, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

/** Path of a Chromium: CHROMIUM_PATH, the PATH, else installed where allowed. Throws `CannotStartError`. */
export async function findChromium(): Promise<string> {
  const given = process.env.CHROMIUM_PATH;
  if (given !== undefined && given !== '') return given;
  const found = onPath();
  if (found !== null) return found;
  for (const name of [SHELL, 'chromium']) {
    const installed = (await installPackages([name])) ? onPath() : null;
    if (installed !== null) return installed;
  }
  throw new CannotStartError('no Chromium here: install chromium, or set CHROMIUM_PATH');
}

function onPath(): string | null {
  for (const name of NAMES) {
    const path = Bun.which(name);
    if (path !== null) return path;
  }
  return null;
}
