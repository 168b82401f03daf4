import { describe, expect, test } from 'bun:test';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { ErrorEnvelope } from './dialect';
import { NATIVE_ERRORS } from './native-errors';

const LIMITED = new GatewayError('rate_limit_exceeded', 'Too many.', { param: 'key', retryAfterMs: 2500 });
const told = (format: keyof typeof NATIVE_ERRORS, error: GatewayError) =>
  JSON.parse(NATIVE_ERRORS[format].encodeError(error, 'req')) as unknown;

describe('errors in the envelope of a native API', () => {
  test('first format', () => {
    const error = { message: 'Too many.', type: 'rate_limit_error', code: 'rate_limit_exceeded', param: 'key' };
    for (const format of ['openai-chat', 'openai-responses'] as const) {
      expect(told(format, LIMITED)).toEqual({ error: { ...error, retry_after: 3 } });
    }
  });

  test('with a type beside the error', () => {
    expect(told('anthropic-messages', LIMITED)).toMatchObject({
      type: 'error',
      error: { type: 'rate_limit_error', message: 'Too many.', code: 'rate_limit_exceeded', retry_after: 3 },
      request_id: 'req',
    });
  });

  test('with numbers for codes, and details', () => {
    expect(told('gemini-content', LIMITED)).toEqual({
      error: {
        code: 429,
        message: 'Too many.',
        status: 'RESOURCE_EXHAUSTED',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'RATE_LIMIT_EXCEEDED',
            domain: 'llm0',
            metadata: { code: 'rate_limit_exceeded', param: 'key' },
          },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3s' },
        ],
      },
    });
    const plain = told('gemini-content', new GatewayError('request_too_large', 'Large.')) as {
      error: { status: string; details: unknown[] };
    };
    expect([plain.error.status, plain.error.details.length]).toEqual(['INVALID_ARGUMENT', 1]);
  });

  test.each([
    ['invalid_request', 'ValidationException'],
    ['invalid_api_key', 'AccessDeniedException'],
    ['rate_limit_exceeded', 'ThrottlingException'],
    ['upstream_timeout', 'ModelTimeoutException'],
  ] as const)('with its kind in a header: %s', (kind, type) => {
    const error = new GatewayError(kind, 'No.');
    const { errorHeaders }: ErrorEnvelope = NATIVE_ERRORS['bedrock-converse'];
    expect(errorHeaders?.(error)).toEqual({ 'x-amzn-errortype': type });
    for (const format of ['bedrock-converse', 'cohere-chat'] as const) {
      expect(told(format, error)).toEqual({ message: 'No.', code: kind, param: null });
    }
  });
});
