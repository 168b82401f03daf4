import { isIPv4, isIPv6 } from 'node:net';

/**
 * Who a request comes from: the socket's address, or behind `hops` trusted proxies the one that the outermost of them
 * saw: the n-th of `X-Forwarded-For` from the right, since all before it may be written by anybody. A list that is too
 * short, or what is no address there, is nobody's word: then it is the socket's.
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
