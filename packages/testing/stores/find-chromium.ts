import { isAll } from '../lane';
import { CannotStartError, installPackages } from './server-process';

const WHOLE = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
/** Draws no window around a page, which takes a third of a browser's CPU. It knows no touches. */
const SHELL = 'chromium-headless-shell';
/** `--all` looks at pages as people do. */
const NAMES = isAll ? WHOLE : [SHELL, ...WHOLE];

/** Path of a Chromium: CHROMIUM_PATH, the PATH, else installed where allowed. Throws `CannotStartError`. */
export async function findChromium(): Promise<string> {
  const given = process.env.CHROMIUM_PATH;
  if (given !== undefined && given !== '') return given;
  const found = onPath();
  if (found !== null) return found;
  for (const name of NAMES.slice(0, NAMES.indexOf('chromium') + 1)) {
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
