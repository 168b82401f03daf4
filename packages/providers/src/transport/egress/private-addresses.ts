import { isIP } from 'node:net';
import { AddressSet } from './address-set';

/** Ranges that are not the public internet. Source: https://www.iana.org/assignments/iana-ipv4-special-registry */
const IPV4_RANGES: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Link-local, and with it every cloud's metadata service.
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** Everything except global unicast, plus its ranges for IPv4 and special use. */
const IPV6_RANGES: readonly string[] = [
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
];

/** Metadata services at addresses that are public by their range. */
const METADATA_ADDRESSES: readonly string[] = ['168.63.129.16', '100.100.100.200'];

const NOT_PUBLIC = new AddressSet([...IPV4_RANGES, ...IPV6_RANGES, ...METADATA_ADDRESSES]);

/** True unless the address is one of the public internet. Anything that is no address counts as private. */
export function isPrivateAddress(address: string): boolean {
  return isIP(address) === 0 || NOT_PUBLIC.holds(address);
}
