/** Nouns that only look made from the other word: "depart" and "department". Stems, the shorter first. */
const UNRELATED: ReadonlySet<string> = new Set(
  `depart department|apart apartment|stat statement|govern government|argu argument|import importanc|import important
  invest investigation|resid residenc|univers universiti|author authoriti|major majoriti|minor minoriti|human humaniti
  person personaliti|act action|sect section|rat ration|nat nation|miss mission|pass passion|port portion
  posit position|inform informaliti|real realiti|patient patienc|current currenci|agent agenci|assist assistant
  attend attendant|account accountant|consult consultant|defend defendant|contest contestant|serv servant
  found foundation|relat relation|organ organization|mean meaning|commun communiti|communicat communion
  capit capital|festiv festival|arriv arrival-hall|medicin medical|special specialiti|quant quantiti|qual qualiti
  oper operat|vis vision|conven convention|expens expansion|import importation|form formation|form formaliti`
    .split(/[|\n]/)
    .map((pair) => pair.trim()),
);

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
