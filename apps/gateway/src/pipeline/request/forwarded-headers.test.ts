import { describe, expect, test } from 'bun:test';
import { forwardedRequestHeaders } from './forwarded-headers';

const forwarded = (names: readonly string[]) =>
  Object.keys(forwardedRequestHeaders(new Headers(names.map((name) => [name, 'v'])))).toSorted();

describe('a vendor gets of its caller', () => {
  test('what says how to answer, and what vendors\u2019 clients send', () => {
    const names = [
      ...['accept', 'user-agent', 'content-type', 'idempotency-key', 'range', 'http-referer', 'x-title', 'x-app'],
      ...['anthropic-beta', 'anthropic-version', 'openai-beta', 'x-stainless-lang', 'x-stainless-retry-count'],
      ...['x-goog-api-client', 'x-goog-request-params', 'x-goog-upload-protocol', 'session_id', 'originator'],
    ];
    expect(forwarded(names)).toEqual(names.toSorted());
  });

  test.each([
    ...['Remote-User', 'Remote-Groups', 'Remote-Name', 'X-WEBAUTH-ROLE', 'OIDC_CLAIM_email', 'X-Userinfo', 'X-User'],
    ...['Impersonate-User', 'Impersonate-Group', 'X-Remote-User', 'X-MS-TOKEN-AAD-ID-TOKEN', 'X-MS-CLIENT-PRINCIPAL'],
    ...['X-Goog-Authenticated-User-Email', 'X-Goog-IAP-JWT-Assertion', 'X-Goog-User-Project', 'X-Goog-Api-Key'],
    ...['X-Amzn-Oidc-Data', 'X-Auth-Request-Email', 'X-Forwarded-User', 'X-SSL-Client-Cert', 'Client-Cert'],
    ...['SSL_CLIENT_S_DN', 'X-Client-Verify', 'X-ARR-ClientCert', 'Cf-Access-Jwt-Assertion', 'Tailscale-User-Login'],
    ...['X-HTTP-Host-Override', 'X-Real-Host', 'X-Script-Name', 'X-Original-URL', 'X-Rewrite-URL', 'X-Forwarded-Host'],
    ...['Authorization', 'X-Api-Key', 'Cookie', 'OpenAI-Organization', 'Anthropic-Workspace-Id', 'X-LLM0-Team'],
  ])('nothing that a proxy says of who asks or where to: %s', (name) => {
    expect(forwarded([name])).toEqual([]);
  });
});
