import { describe, expect, test } from 'bun:test';
import { SECRET_FINDERS } from './secrets';

const found = (text: string) =>
  SECRET_FINDERS.flatMap((finder) => finder.find(text, true)).map(({ start, end }) => text.slice(start, end));

describe('secrets', () => {
  test('what stands behind the word for it', () => {
    expect(found('password = hunter2xyz')).toEqual(['hunter2xyz']);
    expect(found('password: "S3cr3t!pass", x')).toEqual(['S3cr3t!pass']);
    expect(found('DB_PASSWORD=Tr0ub4dor&3\nX=1')).toEqual(['Tr0ub4dor&3']);
    expect(found('{"password":"hunter2xyz"}')).toEqual(['hunter2xyz']);
  });

  test('not what takes its place', () => {
    const none = [
      ...[
        'password: string',
        'password = process.env.PW1',
        'password = getPass1()',
        'PWD=/home/user1',
        'password: $PASS1',
      ],
      ...[
        'The password: use at least 12 characters.',
        'password = <your-password-1>',
        'password1 and password2 differ',
      ],
    ];
    for (const text of none) expect([text, found(text)]).toEqual([text, []]);
  });

  test('not what everybody may know', () => {
    const none = [
      '"integrity":"sha512-9nY4Qx0mB3sVw7Lk2TzR1aUe8dGh6JcXoPi5MvKqWbZyFrStNlCuEgAjDhIp+/Q4Yx0mB3sVw7Lk2TzR1aUe8A=="',
      ...['toolu_01A09q90qw90lq917835lq9', 'call_AbC123dEf456GhI789jKl012', 'msg_01XFDUDYJgAACzvnptvVoYEL'],
      ...['0x52908400098527886E0F7030069857D2E4169EE7', 'getUserAccountByIdV2FromDatabase'],
    ];
    for (const text of none) expect([text, found(`see ${text} there`)]).toEqual([text, []]);
  });

  test('what looks like chance', () => {
    expect(found('see Zx9aB3kLm0Qw7ErTy5UiOp2s there')).toEqual(['Zx9aB3kLm0Qw7ErTy5UiOp2s']);
  });
});
