import { settingNames } from './config';
import { readProviderSettings } from './providers';
import { EnvReader } from './values';

/** Names and prefixes of settings of stores, collectors, backends and the CLI. */
const BY_NAME =
  /^(?:LLM0_.*|OTEL_.*|(?:TRIAL_)?POSTGRES.*|PG[A-Z]+|REDIS.*|VALKEY.*|DATABASE_.*|DB_.*|BACKEND_.*_URL|PROVIDER_KEY)$/;

/** Variables of AWS, which Bedrock and sinks use as other programs do. */
const OF_OTHERS = /^AWS_/;

/**
 * True for the gateway's own variables, in any case and with `_FILE`. Vendors' keys and URLs don't count: other
 * programs share those names.
 */
export function isOwnSetting(variable: string): boolean {
  const name = variable.trim().toUpperCase();
  return [name, name.replace(/_FILE$/, '')].some((one) => BY_NAME.test(one) || ownNames().has(one));
}

let known: ReadonlySet<string> | undefined;

function ownNames(): ReadonlySet<string> {
  if (known !== undefined) return known;
  const vendors = new EnvReader({});
  readProviderSettings(vendors);
  const names = [...settingNames().difference(vendors.known)];
  known = new Set(names.filter((name) => !OF_OTHERS.test(name)));
  return known;
}
