import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { isObject } from '../read-list';

/** What opens the gateway and its stores: no file of another program has a use for it but to send it somewhere. */
const OWN_SECRET =
  /^(?:ADMIN_TOKEN|METRICS_TOKEN|ENCRYPTION_KEY|DATABASE_URL|REDIS_URL|REDIS_PASSWORD|PROVIDER_KEY|LLM0_.*)$/;
const REFERENCE = /^os\.environ\/(.+)$/;

/** A value of the file: as it stands, or where a variable has it. */
export interface Resolved {
  /** Absent where the variable is not set. */
  readonly text?: string;
  /** The variable it was taken from. */
  readonly variable?: string;
}

export type ResolveValue = (value: JsonValue | undefined) => Resolved;

/** Reads `os.environ/NAME` from the file's own `environment_variables`, which LiteLLM sets first, else from `env`. */
export function createResolver(config: JsonObject, env: Readonly<Record<string, string | undefined>>): ResolveValue {
  const own = isObject(config.environment_variables) ? config.environment_variables : {};
  const lookUp = (name: string): string | undefined => {
    const value = Object.hasOwn(own, name) ? own[name] : undefined;
    if (value !== undefined && value !== null && value !== '') return String(value);
    return OWN_SECRET.test(name) ? undefined : env[name] || undefined;
  };
  return (value) => {
    if (typeof value === 'number') return { text: String(value) };
    if (typeof value !== 'string' || value === '') return {};
    const variable = REFERENCE.exec(value)?.[1]?.trim();
    return variable === undefined ? { text: value } : { text: lookUp(variable), variable };
  };
}
