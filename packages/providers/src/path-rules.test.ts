import { describe, expect, test } from 'bun:test';
import { allowsPath, readPathRule } from './path-rules';

describe('paths that an operator lists', () => {
  test.each([
    ['POST /v1/files', 'POST', '/v1/files', true],
    ['POST /v1/files', 'GET', '/v1/files', false],
    ['POST /v1/files', 'POST', '/v1/files/', false],
    ['POST /v1/files', 'POST', '/V1/files', false],
    ['POST /v1/files', 'POST', '/v1/files/x', false],
    ['GET /v1/files/*', 'GET', '/v1/files/file-1', true],
    ['GET /v1/files/*', 'GET', '/v1/files/ft%3Aone', true],
    ['GET /v1/files/*', 'GET', '/v1/files/', false],
    ['GET /v1/files/*', 'GET', '/v1/files/a/content', false],
    ['GET /v1/files/*', 'GET', '/v1/files/a%2Fcontent', false],
    ['GET /v1/files/*', 'GET', '/v1/files/a%252fcontent', false],
    ['GET /v1/files/*', 'GET', '/v1/files/a%5ccontent', false],
    ['GET /v1/files/*', 'GET', '/v1/files/..', false],
    ['GET /v1/files/*', 'GET', '/v1/files/a;b', false],
    ['GET /v1/files/*', 'GET', '/v1/files/a%3bb', false],
    ['GET /v1/files/*/content', 'GET', '/v1/files/a/content', true],
    ['GET /v1/files/**', 'GET', '/v1/files/a/content', true],
    ['GET /v1/files/**', 'GET', '/v1/files', false],
    ['GET /v1/files/**', 'GET', '/v1/files/a/../../models', false],
    ['GET /v1.5/files', 'GET', '/v1x5/files', false],
    ['no rule', 'GET', '/no', false],
  ])('%s: %s %s is %p', (rule, method, path, isAllowed) => {
    expect(allowsPath([rule], method, path)).toBe(isAllowed);
  });

  test.each([
    ...[
      '/v1/files',
      'get /v1/files',
      'ANY /v1/files',
      'POST v1/files',
      'POST /v1/../x',
      'POST /v1//x',
      'POST /v1/x?y=1',
    ],
    ...['POST /v1/**/x', 'POST /v1/fi*', 'POST /', 'POST  /v1', 'POST /v1/%2e%2e', 'OPTIONS /v1'],
  ])('%s is no rule', (rule) => {
    expect(readPathRule(rule)).toBeUndefined();
  });
});
