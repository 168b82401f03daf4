import { isIP } from 'node:net';
import { ConfigError, type EnvReader } from './values';

const HOST = /^(?=.{1,253}(?::|$))[a-z0-9_](?:[a-z0-9._-]*[a-z0-9])?(?::\d{1,5})?$/;

/** Hosts (`name`, `name:port`), addresses and ranges (`10.1.0.0/16`), separated by commas. */
export function readEgressAllow(read: EnvReader, variable: 'EGRESS_ALLOW' | 'MEDIA_EGRESS_ALLOW'): readonly string[] {
  const entries = (read.text(variable) ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  return entries.map((entry) => {
    const lower = entry.toLowerCase();
    if (isRange(lower) || isIP(lower) !== 0 || HOST.test(lower)) return lower;
    throw new ConfigError(variable, entry, 'host names, name:port, addresses or ranges such as 10.1.0.0/16 are needed');
  });
}

function isRange(text: string): boolean {
  const [network = '', bits = '', ...rest] = text.split('/');
  const family = isIP(network);
  if (family === 0 || rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  return Number(bits) <= (family === 4 ? 32 : 128);
}
