import type { ImportNote, ImportPlan } from './import-plan';
import { noteSettings } from './note-settings';
import { planAliases } from './plan-aliases';
import { planPrices } from './plan-prices';
import { planProject } from './plan-project';
import { planProviders } from './plan-providers';
import { noteParameters, readDeployments } from './read-deployments';
import { readNames } from './read-names';
import { readYaml } from './read-yaml';
import { createResolver } from './resolve-values';

/** Plans the import of LiteLLM's `config.yaml`. Throws `RequestFailed` for unreadable text. */
export function planImport(text: string, env: Readonly<Record<string, string | undefined>>): ImportPlan {
  const config = readYaml(text);
  const notes = new Map<string, ImportNote>();
  const note = (kind: ImportNote['kind'], at: string, why: string) => {
    notes.set(`${kind} ${at} ${why}`, { kind, at, why });
  };
  const { resolve, noteUnused } = createResolver(config, env, note);
  const deployments = readDeployments(config, resolve, note);
  noteParameters(deployments, note);
  const { providers, placed } = planProviders(deployments, resolve, note);
  const aliases = planAliases(config, placed, note);
  const names = readNames(config, { placed, aliases }, note);
  const plan = {
    providers,
    ...planPrices(placed, note),
    aliases,
    project: planProject(config, names, note),
  };
  noteUnused();
  noteSettings(config, note);
  return { ...plan, notes: [...notes.values()] };
}
