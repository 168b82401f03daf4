import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { redirectPath, requestFields, responseFields } from './forward-headers';

const sent = (caller: Record<string, string>, operator: Record<string, string> = {}, forwardHeaders: string[] = []) =>
  requestFields(new Headers(caller), { headers: operator, forwardHeaders }, 'request-1');
const NOTHING = { 'accept-encoding': 'identity', 'x-request-id': 'request-1' };

describe('forwarding of the caller’s headers', () => {
  const KEPT_BACK = [
    ...['X-HTTP-Method-Override', 'X-Forwarded-For', 'X-Original-URL', 'X-Api-Key', 'api-key', 'X-LLM0-Cache'],
    ...['Client-IP', 'X-HTTP-Path-Override', 'X-HTTP-Host-Override', 'X-Real-Host', 'X-Script-Name', 'Script-Name'],
    ...[
      'Remote-User',
      'Remote-Groups',
      'Remote-Name',
      'X-WEBAUTH-ROLE',
      'X-Userinfo',
      'Impersonate-User',
      'X-Remote-Group',
    ],
    ...['OIDC_CLAIM_email', 'X-MS-TOKEN-AAD-ID-TOKEN', 'X-SSL-Client-Cert', 'X-Client-Cert', 'Client-Cert', 'Proxy'],
    ...['X-Customer-ID', 'Cookie', 'Transfer-Encoding', 'X-Tenant', 'From', 'Accept_Language', 'X-Anything'],
  ];

  test('is none that may say who asks or for what, however its name is spelled', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...KEPT_BACK),
        fc.array(fc.constantFrom('-', '_', '.'), { minLength: 4 }),
        (name, by) => {
          let at = 0;
          const spelled = name.replace(/[-_]/g, () => by[at++ % by.length] ?? '-');
          fc.pre(spelled !== 'Accept-Language');
          expect(sent({ [spelled]: 'evil' })).toEqual(NOTHING);
        },
      ),
    );
  });

  test('is what says how the answer is to look, what the body is and how caches may be used', () => {
    const usual = { accept: 'text/csv', 'accept-language': 'de', 'content-type': 'text/x', 'if-none-match': '"a"' };
    expect(sent(usual)).toEqual({ ...NOTHING, ...usual });
  });

  test('and what the operator named, by that very name, unless it is of the connection', () => {
    const caller = { 'X-Tenant': 'a', X_Tenant: 'evil', 'X-Hop': 'b', Connection: 'X-Hop', 'X-Other': 'c' };
    expect(sent(caller, {}, ['x-tenant', 'x-hop'])).toEqual({ ...NOTHING, 'x-tenant': 'a' });
  });

  test('is none that a server takes for one of the operator’s', () => {
    const fields = sent({ 'x-user': 'evil', x_user: 'evil', Accept: 'evil' }, { 'x-user': 'gateway', accept: 'a/b' }, [
      'x_user',
    ]);
    expect(fields).toEqual({ ...NOTHING, 'x-user': 'gateway', accept: 'a/b' });
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
