import { BlockList, isIP } from 'node:net';

/** IP addresses, and ranges such as `10.1.0.0/16`. */
export class AddressSet {
  /** Two lists: one alone would hold IPv4 addresses against the IPv6 ranges as well. */
  private readonly lists = { ipv4: new BlockList(), ipv6: new BlockList() };

  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const [network = '', bits] = entry.split('/');
      const family = isIP(network) === 4 ? 'ipv4' : 'ipv6';
      if (bits === undefined) this.lists[family].addAddress(network, family);
      else this.lists[family].addSubnet(network, Number(bits), family);
    }
  }

  /** False for anything that is no address. */
  holds(address: string): boolean {
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    return isIP(address) !== 0 && this.lists[family].check(address, family);
  }
}
