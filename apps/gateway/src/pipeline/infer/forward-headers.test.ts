import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { redirectPath, requestFields, responseFields } from './forward-headers';

const sent = (caller: Record<string, string>, operator: Record<string, string> = {}) =>
  requestFields(new Headers(caller), { headers: operator }, 'request-1');

describe('what goes on of the caller’s headers', () => {
  const KEPT_BACK = [
    ...['X-HTTP-Method-Override', 'X-Forwarded-For', 'X-Original-URL', 'X-Api-Key', 'api-key', 'X-LLM0-Cache'],
    ...['Client-IP', 'X-Cluster-Client-IP', 'Fastly-Client-IP', 'X-HTTP-Path-Override', 'X-Override-URL', 'X-Method'],
    ...['X-URL-Scheme', 'Remote-User', 'X-Remote-User', 'Proxy', 'X-Customer-ID', 'Cookie', 'Transfer-Encoding'],
  ];

  test('is none of what is forbidden, however its name is spelled', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...KEPT_BACK),
        fc.array(fc.constantFrom('-', '_', '.'), { minLength: 4 }),
        (name, by) => {
          let at = 0;
          const spelled = name.replace(/-/g, () => by[at++ % by.length] ?? '-');
          const { 'accept-encoding': _own, 'x-request-id': id, ...rest } = sent({ [spelled]: 'evil' });
          expect([rest, id]).toEqual([{}, 'request-1']);
        },
      ),
    );
  });

  test('is none that a server takes for one of the operator’s', () => {
    const fields = sent(
      { X_Service_User: 'evil', 'x.service-user': 'evil', x_own: 'a' },
      { 'x-service-user': 'gateway' },
    );
    expect(fields).toMatchObject({ 'x-service-user': 'gateway', x_own: 'a' });
    expect(Object.values(fields)).not.toContain('evil');
    expect(sent({ 'x-user': 'evil' }, { x_user: 'gateway' })['x-user']).toBeUndefined();
    expect(sent({ X_Request_Id: 'evil' }).x_request_id).toBeUndefined();
  });
});

test('a backend says nothing in the gateway’s name, nor to the proxy before it', () => {
  const own = [
    ...['X-Failover', 'X-Original-Provider', 'X-Idempotent-Replay', 'X-Downgraded-From', 'X-Cache-Similarity'],
    ...[
      'X-Accel-Redirect',
      'X-Accel-Expires',
      'X-Sendfile',
      'X-Overhead-Ms',
      'X-LLM0-Dropped',
      'X_Failover',
      'X-Cache',
    ],
  ];
  for (const name of own) expect([name, responseFields(new Headers({ [name]: 'forged' })).fields]).toEqual([name, {}]);
  expect(responseFields(new Headers({ 'X-Own': 'a', 'X-Accel-Buffering': 'no' })).fields).toEqual({
    ...{ 'x-own': 'a', 'x-accel-buffering': 'no' },
  });
});

test('a redirect without a scheme leads to the gateway as well, and one to another host stays', () => {
  const backend = { name: 'py', url: 'http://backend.test:8001' };
  expect(redirectPath('//backend.test:8001/x', backend, '/a')).toBe('/infer/py/x');
  expect(redirectPath('//elsewhere.test/x', backend, '/a')).toBe('//elsewhere.test/x');
});

test('who a caller is said to be by proxies before the gateway stays here', () => {
  const names = ['X-Auth-Request-User', 'X-WebAuth-User', 'X_Goog_Authenticated_User_Email', 'Tailscale-User-Login'];
  for (const name of names) {
    const kept = requestFields(new Headers({ [name]: 'root', 'x-own': 'a' }), { headers: {} }, 'id');
    expect(kept).toEqual({ 'x-own': 'a', 'accept-encoding': 'identity', 'x-request-id': 'id' });
  }
});

test('a relative redirect leads where the backend meant it, from wherever it is followed', () => {
  const segment = fc.constantFrom('a', 'b', '..', '.');
  const pathArb = fc.array(segment, { minLength: 1, maxLength: 4 });
  const own = fc.array(fc.constantFrom('a', 'b'), { maxLength: 3 });
  fc.assert(
    fc.property(own, pathArb, fc.constantFrom('', '?x=1'), (at, to, search) => {
      const path = `/${at.join('/')}`;
      const location = `${to.join('/')}${search}`;
      const meant = new URL(location, `http://backend.test${path}`);
      const told = redirectPath(location, { name: 'py', url: 'http://backend.test' }, path);
      const followed = new URL(told, `http://gateway.test/infer/py${path}`);
      expect(`${followed.pathname}${followed.search}`).toBe(`/infer/py${meant.pathname}${meant.search}`);
    }),
  );
});
