import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { isOwnSetting } from '../../config/own-settings';
import { isObject } from '../read-list';
import type { AddNote } from './import-plan';

const REFERENCE = /^os\.environ\/(.+)$/;

/** A value of the file, direct or from a variable. */
export interface Resolved {
  /** Absent where the variable is not set. */
  readonly text?: string;
  /** The variable it was taken from. */
  readonly variable?: string;
}

export type ResolveValue = (value: JsonValue | undefined) => Resolved;

export interface Resolver {
  readonly resolve: ResolveValue;
  /** Notes variables in the file that nothing used. */
  noteUnused(): void;
}

const UNUSED =
  'no deployment that is taken over asks for it; where the gateway has such a setting, it is one of its environment';
const OWN = "a variable of the gateway's own, which no file gets: where it is meant, write its value into the file";

/**
 * Reads `os.environ/NAME` from the file's `environment_variables`, as LiteLLM does, then from `env`. Never reads the
 * gateway's own secrets: a foreign file could only leak them.
 */
export function createResolver(
  config: JsonObject,
  env: Readonly<Record<string, string | undefined>>,
  note: AddNote,
): Resolver {
  const own = isObject(config.environment_variables) ? config.environment_variables : {};
  const asked = new Set<string>();
  const lookUp = (name: string): string | undefined => {
    asked.add(name);
    const value = Object.hasOwn(own, name) ? own[name] : undefined;
    if (value !== undefined && value !== null && value !== '') return String(value);
    if (!isOwnSetting(name)) return env[name] || undefined;
    note('left out', `os.environ/${name.slice(0, 100)}`, OWN);
    return undefined;
  };
  const resolve: ResolveValue = (value) => {
    if (typeof value === 'number') return { text: String(value) };
    if (typeof value !== 'string' || value === '') return {};
    const variable = REFERENCE.exec(value)?.[1]?.trim();
    return variable === undefined ? { text: value } : { text: lookUp(variable), variable };
  };
  const noteUnused = () => {
    for (const name of Object.keys(own)) {
      if (!asked.has(name)) note('left out', `environment_variables.${name.slice(0, 100)}`, UNUSED);
    }
  };
  return { resolve, noteUnused };
}
