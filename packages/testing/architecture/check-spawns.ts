import { isTest, type Rule } from './source-file';

/** Bun reads `.env` files of the folder it is started in, and hands them to what it starts; an operator types `start`. */
const READS_ENV_FILES = /\[(?:\.\.\.\w+, )?process\.execPath,(?!\s*(?:'--no-env-file'|'start'|\.\.\.))/;
const STARTS = /(?:\bBun\.spawn(?:Sync)?|(?<![.\w]|private )spawn|\bnew Worker)\((?=[[\w])/g;

/** What a program or a thread of the gateway's is started with is said where it is started. */
export const checkSpawns: Rule = ({ path, text }) => [
  ...(READS_ENV_FILES.test(text) ? ['a Bun of ours is started without --no-env-file'] : []),
  ...(isProduct(path) ? [...text.matchAll(STARTS)].filter(({ index }) => !saysEnvironment(text, index)) : []).map(
    () => 'a program or thread is started without an environment of its own',
  ),
];

const isProduct = (path: string): boolean =>
  /^(apps\/gateway|packages\/(core|providers)|drizzle)\/.*\.ts$/.test(path) && !isTest(path);

/** In the call that begins there: up to its closing bracket. */
function saysEnvironment(text: string, index: number): boolean {
  let depth = 0;
  for (let at = text.indexOf('(', index); at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 0) return /\benv\b/.test(text.slice(index, at));
  }
  return false;
}
