import { settingNames } from './config';
import { readProviderSettings } from './providers';
import { EnvReader } from './values';

/** Of stores, collectors, backends and the command line, whoever reads them: all that is named after them. */
const BY_NAME =
  /^(?:LLM0_.*|OTEL_.*|(?:TRIAL_)?POSTGRES.*|PG[A-Z]+|REDIS.*|VALKEY.*|DATABASE_.*|DB_.*|BACKEND_.*_URL|PROVIDER_KEY)$/;

/**
 * Whether a variable is the gateway's own, in any case of its letters and with `_FILE` behind it. Vendors' keys and addresses
 * are not: other programs have them under the same names.
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
  known = settingNames().difference(vendors.known);
  return known;
}
