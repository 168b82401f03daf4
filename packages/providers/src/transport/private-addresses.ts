import { BlockList, isIP } from 'node:net';

/** Ranges that are not the public internet. Source: https://www.iana.org/assignments/iana-ipv4-special-registry */
const IPV4_RANGES: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local, and with it every cloud's metadata service.
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Everything but global unicast, and what is in it that reaches IPv4 or is set aside. */
const IPV6_RANGES: readonly (readonly [string, number])[] = [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

/** Metadata services at addresses that are public by their range. */
const METADATA_ADDRESSES: readonly string[] = ['168.63.129.16', '100.100.100.200'];

/** Two lists: one alone would hold IPv4 addresses against the IPv6 ranges as well. */
const blockedIpv4 = new BlockList();
const blockedIpv6 = new BlockList();
for (const [network, prefix] of IPV4_RANGES) blockedIpv4.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of IPV6_RANGES) blockedIpv6.addSubnet(network, prefix, 'ipv6');
for (const address of METADATA_ADDRESSES) blockedIpv4.addAddress(address, 'ipv4');

/** True unless the address is one of the public internet. Anything that is no address counts as private. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return true;
  return family === 4 ? blockedIpv4.check(address, 'ipv4') : blockedIpv6.check(address, 'ipv6');
}
