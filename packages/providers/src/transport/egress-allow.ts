import { BlockList, isIP } from 'node:net';
import type { AddressRanges, EgressOptions } from './fetch-guarded';

/** What may be reached although it is private, from entries such as `name`, `name:port`, an address or `10.1.0.0/16`. */
export function readEgressAllow(entries: readonly string[]): Pick<EgressOptions, 'allowedHosts' | 'allowedRanges'> {
  if (entries.length === 0) return {};
  const isHost = (entry: string) => isIP(entry) === 0 && !entry.includes('/');
  return {
    allowedHosts: new Set(entries.filter(isHost)),
    allowedRanges: new AllowedRanges(entries.filter((entry) => !isHost(entry))),
  };
}

class AllowedRanges implements AddressRanges {
  /** Two lists: one alone would hold IPv4 addresses against the IPv6 ranges as well. */
  private readonly ipv4 = new BlockList();
  private readonly ipv6 = new BlockList();

  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const [network = '', bits] = entry.split('/');
      const family = isIP(network) === 4 ? 'ipv4' : 'ipv6';
      if (bits === undefined) this[family].addAddress(network, family);
      else this[family].addSubnet(network, Number(bits), family);
    }
  }

  holds(address: string): boolean {
    const family = isIP(address);
    if (family === 0) return false;
    return family === 4 ? this.ipv4.check(address, 'ipv4') : this.ipv6.check(address, 'ipv6');
  }
}
