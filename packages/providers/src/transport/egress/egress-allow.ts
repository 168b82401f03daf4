import { isIP } from 'node:net';
import { AddressSet } from './address-set';
import type { EgressOptions } from './fetch-guarded';

/** Permitted private hosts, from entries such as `name`, `name:port`, an address or `10.1.0.0/16`. */
export function readEgressAllow(entries: readonly string[]): Pick<EgressOptions, 'allowedHosts' | 'allowedRanges'> {
  if (entries.length === 0) return {};
  const isHost = (entry: string) => isIP(entry) === 0 && !entry.includes('/');
  return {
    allowedHosts: new Set(entries.filter(isHost)),
    allowedRanges: new AddressSet(entries.filter((entry) => !isHost(entry))),
  };
}
