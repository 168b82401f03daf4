import { describe, expect, test } from 'bun:test';
import { threadMs } from '@llm0/testing/thread-time';
import fc from 'fast-check';
import { REDACTED, redactJson, redactMessage, redactText } from './redact';

const hex = (length: number) => 'a1b2c3d4e5f60718'.repeat(8).slice(0, length);

describe('redact', () => {
  test.each([
    ['a gateway key', `llm0_live_${hex(64)}`],
    ['an OpenAI-style key', 'sk-proj-AbCd1234_efgh5678-IJKL'],
    ['an Anthropic-style key', 'sk-ant-api03-AbCd1234efgh5678'],
    ['a Google-style key', `AIza${'x'.repeat(35)}`],
    ['an AWS access key id', 'AKIAIOSFODNN7EXAMPLE'],
    ['a JWT', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl'],
  ])('%s disappears from text and JSON, its surroundings stay', (_name, secret) => {
    expect(redactText(`before ${secret}, after`)).toBe(`before ${REDACTED}, after`);
    expect(redactJson({ a: [{ note: `"${secret}"` }] })).toEqual({ a: [{ note: `"${REDACTED}"` }] });
  });

  test.each([
    ['Authorization: Bearer abcdefgh12345678', `Authorization: Bearer ${REDACTED}`],
    ['postgres://user:p4ss@host/db', `postgres://${REDACTED}@host/db`],
    ['https://x.test/v1?key=abc&model=m', `https://x.test/v1?key=${REDACTED}&model=m`],
  ])('%p becomes %p', (text, expected) => {
    expect(redactText(text)).toBe(expected);
  });

  test.each(['authorization', 'Api-Key', 'x-api-key', 'api_key', 'password', 'client_secret', 'access_token'])(
    'the field %p is a secret whatever it holds',
    (name) => {
      expect(redactJson({ [name]: 'hunter2', kept: 1 })).toEqual({ [name]: REDACTED, kept: 1 });
    },
  );

  test.each(['max_tokens', 'token', 'key', 'model', 'total_tokens', 'tool_choice'])('the field %p is none', (name) => {
    expect(redactJson({ [name]: 'plain words' })).toEqual({ [name]: 'plain words' });
  });

  test('ordinary text stays as it is', () => {
    const text = 'The task-list says: ask-me-anything about sk-1 and https://host:8080/path?page=2';
    expect(redactText(text)).toBe(text);
  });

  test('twice is once', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('Bearer ', 'sk-', '?key=', 'http://a:'), (text, prefix) => {
        const once = redactText(`${prefix}${text}@x`);
        expect(redactText(once)).toBe(once);
      }),
    );
  });
});

describe('forwarded provider messages', () => {
  test.each([
    ['Incorrect API key provided: sk-proj-abc***********xyz9.', `Incorrect API key provided: ${REDACTED}.`],
    ['Incorrect API key provided: sk-12***89', `Incorrect API key provided: ${REDACTED}`],
    ['key gsk_abcdefghijklmnop used', `key ${REDACTED} used`],
    ['xai-abcdefghijklmnop', REDACTED],
    ['AIzaSyA1234567890abcdef', REDACTED],
    ['header Bearer abc.def-ghi', `header Bearer ${REDACTED}`],
    ['at https://user:pw@host/x?key=abc123&y=1', `at https://${REDACTED}@host/x?key=${REDACTED}&y=1`],
    ['at https://token@host/x', `at https://${REDACTED}@host/x`],
    ['write to https://host/x?mail=a@b.test', 'write to https://host/x?mail=a@b.test'],
    ['two\n  lines', 'two lines'],
    ['the task-based sketch of risk-free keys', 'the task-based sketch of risk-free keys'],
  ])('%s', (given, shown) => {
    expect(redactMessage(given)).toBe(shown);
  });

  test('long messages are cut', () => {
    expect(redactMessage('a '.repeat(10_000)).length).toBeLessThanOrEqual(1001);
  });
});

describe('in the worst case', () => {
  const MB = 1_000_000;
  const fill = (piece: string) => piece.repeat(Math.ceil(MB / piece.length)).slice(0, MB);
  test.each([
    ['bearer and spaces', `openai/bearer${' '.repeat(MB)}`],
    ['bearers', fill('bearer ')],
    ['basic and tabs', fill('basic\t\t\t')],
    ['heads of keys', fill('sk-')],
    ['keys that are nearly masked', fill('sk-a*')],
    ['heads of JWTs', fill('eyJaaaaaaaaaa-')],
    ['JWTs without an end', fill('eyJaaaaaaaaaa.')],
    ['one endless part', `eyJ${'a'.repeat(MB)}`],
    ['dots', fill('aaaaaaaaaaaaa.')],
    ['URLs without a host', fill('a://')],
    ['one endless user', `a://${'b'.repeat(MB)}`],
    ['users and colons', fill('a:b')],
    ['parameters', fill('?key=')],
    ['ampersands', fill('&api-key')],
    ['AWS keys without an end', `AKIA${'A'.repeat(MB)}_`],
    ['gateway keys without an end', `llm0_live_${'a'.repeat(MB)}_`],
    ['underlines', fill('_')],
    ['stars', fill('*')],
  ])('a megabyte of %s takes no time', (_name, text) => {
    const startMs = threadMs();
    redactText(text);
    // A quadratic expression takes minutes; the bound leaves room for a busy machine.
    expect(threadMs() - startMs).toBeLessThan(400);
  });

  test('a name of a megabyte is no secret’s', () => {
    const startMs = threadMs();
    const name = `${fill('a-')}password`;
    expect(redactJson({ [name]: 'kept' })).toEqual({ [name]: 'kept' });
    expect(threadMs() - startMs).toBeLessThan(400);
  });
});
