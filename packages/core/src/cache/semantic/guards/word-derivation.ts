import { UNRELATED } from '../english/word-lists';

const bare = (stem: string) => stem.replace(/([^aeiou])\1/g, '$1');

/** True where one stem is the noun of the other's act or state: renew and renewal, pregnant and pregnancy. */
export function isDerived(x: string, y: string): boolean {
  if (x.slice(0, 3) !== y.slice(0, 3)) return false;
  if (x.length === y.length) return isState(x, y) || isState(y, x);
  const [short, long] = x.length < y.length ? [x, y] : [y, x];
  if (short.length < 4 || long.length - short.length > 6 || UNRELATED.has(`${short} ${long}`)) return false;
  return isNounOf(bare(long), bare(short)) || isState(long, short);
}

const isNounOf = (long: string, short: string): boolean =>
  long === `${short}ment` ||
  (short.length >= 5 && (long === `${short}ion` || long === `${short}ation`)) ||
  (short.length >= 5 && (long === `${short}iti` || long === `${short}anc` || long === `${short}enc`)) ||
  (/[vwsi]$/.test(short) && long === `${short}al`) ||
  (short.endsWith('abl') && long === `${short.slice(0, -1)}iliti`);

/** "intolerant", "intolerance"; "pregnant", "pregnancy". */
const isState = (noun: string, adjective: string): boolean =>
  /[ae]nt$/.test(adjective) &&
  adjective.length >= 6 &&
  (noun === `${adjective.slice(0, -1)}c` || noun === `${adjective.slice(0, -1)}ci`) &&
  !UNRELATED.has(`${adjective} ${noun}`);
