import { isIPv4, isIPv6 } from 'node:net';

/**
 * Client address: the socket's, or behind `hops` trusted proxies the n-th of `X-Forwarded-For` from the right. Anybody
 * may forge earlier ones. An invalid or short list means the socket's address.
 */
export function clientAddress(socketAddress: string, forwardedFor: string | null, hops: number): string {
  if (hops === 0 || forwardedFor === null) return socketAddress;
  const list = forwardedFor.split(',');
  const named = list[list.length - hops]?.trim() ?? '';
  const bare = /^\[(.+)\](?::\d+)?$/.exec(named)?.[1] ?? /^([\d.]+):\d+$/.exec(named)?.[1] ?? named;
  return isIPv4(bare) || isIPv6(bare) ? bare : socketAddress;
}

/** Network of one client: an IPv4 address, or an IPv6 /64. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const plain = address.replace(/%.*$/, '').toLowerCase();
  const mapped = /^(?:0*:)*:?ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
