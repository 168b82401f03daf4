import { CannotStartError, installPackages } from './server-process';

const WHOLE = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
/** Draws no window around a page, which takes a third of a browser's CPU. It knows no touches. */
const SHELL = 'chromium-headless-shell';

/** Path of a Chromium: CHROMIUM_PATH, the PATH, else installed where allowed. Throws `CannotStartError`. */
export async function findChromium({ hasTouch }: { readonly hasTouch: boolean }): Promise<string> {
  const given = process.env.CHROMIUM_PATH;
  if (given !== undefined && given !== '') return given;
  const names = hasTouch ? WHOLE : [SHELL, ...WHOLE];
  const found = onPath(names);
  if (found !== null) return found;
  for (const name of names.slice(0, names.indexOf('chromium') + 1)) {
    const installed = (await installPackages([name])) ? onPath(names) : null;
    if (installed !== null) return installed;
  }
  throw new CannotStartError('no Chromium here: install chromium, or set CHROMIUM_PATH');
}

function onPath(names: readonly string[]): string | null {
  for (const name of names) {
    const path = Bun.which(name);
    if (path !== null) return path;
  }
  return null;
}
