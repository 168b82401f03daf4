import { join } from 'node:path';
import { readPackage } from './read-package';

/** Something that stands in a text, and what it is. */
export interface Planted {
  readonly start: number;
  readonly end: number;
  /** `email`, …, or `key:` and whose it is. */
  readonly kind: string;
}

export interface PlantedText {
  readonly text: string;
  readonly planted: readonly Planted[];
}

export interface PlantedJob {
  readonly seed: number;
  /** How many texts of each template, of things that are nothing, and of each vendor's keys. */
  readonly each: { readonly template: number; readonly harmless: number; readonly key: number };
}

/** Each once, with something national: presidio-evaluator has no templates for these. */
const NATIONAL = ['My id is {{national_id}}.', '{{person}} ({{national_id}}), {{city}}', 'ID number: {{national_id}}'];

/** Made anew from the seed: nobody tunes on texts of another seed. */
export async function writePlantedTexts({ seed, each }: PlantedJob): Promise<readonly PlantedText[]> {
  const [faker, rstr] = await Promise.all([readPackage('faker'), readPackage('rstr')]);
  const templates = [...(await readTemplates()), ...NATIONAL].map((template) => [
    template,
    timesOf(template, each.template),
  ]);
  const job = { seed, templates, harmless: each.harmless, keys: await readKeyPatterns(), each: each.key };
  const child = Bun.spawn(['python3', join(import.meta.dir, 'generate.py')], {
    env: { ...process.env, PYTHONPATH: `${faker}:${rstr}`, PYTHONHASHSEED: '0' },
    stdin: new Blob([JSON.stringify(job)]),
    stderr: 'inherit',
  });
  const lines = (await new Response(child.stdout).text()).trim().split('\n');
  if ((await child.exited) !== 0) throw new Error('the texts could not be made');
  return lines.map((line) => joinParts(JSON.parse(line) as readonly (readonly [string, string | null])[]));
}

function joinParts(parts: readonly (readonly [string, string | null])[]): PlantedText {
  let text = '';
  const planted: Planted[] = [];
  for (const [shown, kind] of parts) {
    if (kind !== null) planted.push({ start: text.length, end: text.length + shown.length, kind });
    text += shown;
  }
  return { text, planted };
}

/** Few templates hold an account or an address of a machine: those come more often. */
const RARE = /\{\{(?:iban|ip_address|email|national_id)\}\}/;
const timesOf = (template: string, each: number): number => (RARE.test(template) ? 10 * each : each);

async function readTemplates(): Promise<readonly string[]> {
  const folder = await readPackage('presidio-evaluator');
  const text = await Bun.file(join(folder, 'presidio_evaluator/data_generator/raw_data/templates.txt')).text();
  const lines = text.split('\n').map((line) => line.replaceAll('\\n', '\n').replaceAll('\\,', ','));
  // No check digits, so that the gateway says nothing of it.
  return lines.filter((line) => line.trim() !== '' && !line.includes('{{ssn}}'));
}

interface Rule {
  readonly name: string;
  readonly type: string;
  readonly values: readonly string[];
}

/** Not a key by itself, by what it is or by CredSweeper's own second look. */
const NO_KEYS = /Domain|Bucket|UUID|Webhook|Activation|App ID|Authorization|Private Key|OTP|JWK|Credentials_/;
/** Begins with what its vendor lets it begin with: whoever has none is told by chance alone. */
const HAS_HEAD = /^(?:[A-Za-z0-9]|\\?[._-]){3}|^\([A-Za-z0-9|_-]{3,40}\)[_-]/;

/** Of each vendor's keys that CredSweeper knows by how they begin: its name, and its expression without what stands around. */
export async function readKeyPatterns(): Promise<readonly (readonly [string, string])[]> {
  const folder = await readPackage('credsweeper');
  const rules = Bun.YAML.parse(await Bun.file(join(folder, 'credsweeper/rules/config.yaml')).text()) as readonly Rule[];
  return rules
    .filter(({ name, type }) => type === 'pattern' && !NO_KEYS.test(name))
    .flatMap(({ name, values }) => values.map((value) => [name, valueGroup(value)] as const))
    .filter((entry): entry is readonly [string, string] => entry[1] !== undefined && HAS_HEAD.test(entry[1]))
    .map(([name, pattern]) => [name, bounded(pattern)]);
}

/** The expression within `(?P<value>…)`. */
function valueGroup(pattern: string): string | undefined {
  const begin = pattern.indexOf('(?P<value>');
  if (begin < 0) return undefined;
  const from = begin + '(?P<value>'.length;
  let depth = 1;
  for (let at = from; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') at++;
    else if (character === '[') at = pattern.indexOf(']', at + 2);
    else if (character === '(') depth++;
    else if (character === ')' && --depth === 0) return pattern.slice(from, at);
  }
  return undefined;
}

/** Keys are some hundred characters long, whatever an expression allows, and written as their vendors write them: not escaped. */
const bounded = (pattern: string): string =>
  pattern
    .replaceAll('(\\\\?=|(%|\\\\u00)3[dD])', '=')
    .replaceAll('(%|\\\\u00)3[dD]', '%3D')
    .replace(/\{(\d+),(\d+)\}/g, (_, least, most) => `{${least},${Math.min(Number(most), Number(least) + 60)}}`);
