import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { isOwnSetting } from '../../config/own-settings';
import { isObject } from '../read-list';
import type { AddNote } from './import-plan';

const REFERENCE = /^os\.environ\/(.+)$/;

/** A value of the file: as it stands, or where a variable has it. */
export interface Resolved {
  /** Absent where the variable is not set. */
  readonly text?: string;
  /** The variable it was taken from. */
  readonly variable?: string;
}

export type ResolveValue = (value: JsonValue | undefined) => Resolved;

const OWN = "a variable of the gateway's own, which no file gets: where it is meant, write its value into the file";

/**
 * Reads `os.environ/NAME` from the file's own `environment_variables`, which LiteLLM sets first, else from `env`. What opens
 * the gateway and its stores is not read: no file of another program has a use for it but to send it somewhere.
 */
export function createResolver(
  config: JsonObject,
  env: Readonly<Record<string, string | undefined>>,
  note: AddNote,
): ResolveValue {
  const own = isObject(config.environment_variables) ? config.environment_variables : {};
  const lookUp = (name: string): string | undefined => {
    const value = Object.hasOwn(own, name) ? own[name] : undefined;
    if (value !== undefined && value !== null && value !== '') return String(value);
    if (!isOwnSetting(name)) return env[name] || undefined;
    note('left out', `os.environ/${name.slice(0, 100)}`, OWN);
    return undefined;
  };
  return (value) => {
    if (typeof value === 'number') return { text: String(value) };
    if (typeof value !== 'string' || value === '') return {};
    const variable = REFERENCE.exec(value)?.[1]?.trim();
    return variable === undefined ? { text: value } : { text: lookUp(variable), variable };
  };
}
