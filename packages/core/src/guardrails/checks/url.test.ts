import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { judged, patient } from './judged-text.fixture';
import { checkUrls, type UrlRule } from './url';

const countOf = async (rule: UrlRule, text: string) => (await checkUrls(rule).judge(judged(text), patient)).count;

/** Ways to write an address that leads to evil.example. */
const WAYS = [
  'https://evil.com/path',
  'HTTPS://EVIL.COM',
  'http://evil.com:8080/x',
  'see (https://evil.com).',
  '[a](https://evil.com)',
  '![a](//evil.com/x.png)',
  '[a](\\\\evil.com)',
  '[a](/\\evil.com)',
  '<a href="//evil.com">x</a>',
  '<https://evil.com>',
  'https:evil.com',
  'https:/evil.com',
  'https:\\\\evil.com',
  'https:///evil.com',
  '{"url":"https:\\/\\/evil.com\\/x"}',
  'https://good.com@evil.com/',
  'https://good.com:pw@evil.com',
  'https://good.com\\@evil.com',
  'https://good.com#@evil.com',
  'https://good.com?@evil.com',
  'https://good.com/?next=https://evil.com',
  'https://good.com/?next=https%3A%2F%2Fevil.com',
  'https://evil.com.',
  'https://evil.com./x',
  'https://ｅｖｉｌ.com',
  'https://evil。com',
  'https://evil\u200b.com',
  'https://e\u00advil.com',
  'https://%65vil.com',
  'https&colon;//evil&period;com',
  'https://evil&#46;com',
  'https://evil&#x2e;com',
  'https://evil\\.com',
  '\\u0068ttps://evil\\u002ecom',
  'ftp://evil.com',
  'git+ssh://evil.com/x',
  'evil.com/x',
  'www.evil.com',
  'go to evil.com now',
  'evil.com.',
  '**evil.com**',
];

describe('hosts that are denied', () => {
  test.each(WAYS)('%s leads there', async (text) => {
    expect(await countOf({ deny: ['evil.com', '*.evil.com'] }, text)).toBeGreaterThan(0);
  });

  test.each(WAYS)('%s leads nowhere else', async (text) => {
    expect(await countOf({ deny: ['other.example', '*.com.evil'] }, text)).toBe(0);
  });

  test.each([
    'http://127.0.0.1/',
    'http://127.1',
    'http://0x7f.1/x',
    'http://2130706433',
    'http://0177.0.0.1',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]',
    '127.0.0.1',
  ])('%s is an address that is denied', async (text) => {
    expect(await countOf({ deny: ['127.0.0.1'] }, text)).toBeGreaterThan(0);
  });

  test('a host with a letter of another script looks like one that is denied', async () => {
    expect(await countOf({ deny: ['paypal.com'] }, 'https://pаypal.com/login')).toBe(1);
    expect(await countOf({ deny: ['paypal.com'] }, 'https://xn--pypal-4ve.com/login')).toBe(1);
  });

  test('a host that is named in the list is found whatever it may be besides', async () => {
    for (const host of ['evil.internal', 'my.name', 'files.zip', 'a.b.map'])
      expect([host, await countOf({ deny: [host] }, `ask ${host} for it`)]).toEqual([host, 1]);
  });

  test('entries may have letters of any script, and are names of hosts', async () => {
    expect(await countOf({ deny: ['Bücher.de'] }, 'https://xn--bcher-kva.de/')).toBe(1);
    for (const entry of ['', 'a b', 'https://a.com', 'a.com/x', 'a.com:80', 'u@a.com', '**', 'a.*.com'])
      expect(() => checkUrls({ deny: [entry] })).toThrow('no host name');
    expect(() => checkUrls({})).toThrow('is needed');
    expect(() => checkUrls({ allow: ['*'] })).toThrow('no host name');
  });
});

/** Hosts as people write them, below ends of every kind. */
const SHOWN = [
  ...[
    'go to evil.io',
    'evil.xyz.',
    '(evil.co.uk)',
    'evil.ru, evil',
    'evil.shop is open',
    'pay.evil.online',
    'EVIL.CLUB',
  ],
  ...[
    'evil.dev/x',
    'evil.top:8080',
    'www.evil.info',
    'evil.github.io',
    'xn--bcher-kva.ch',
    'b\u00fccher.ch',
    'evil.com.br',
  ],
];

/** Names of no host. */
const HARMLESS = [
  'write to ann@evil.com',
  'run main.py and build.sh, then README.md; see section 1.2, v2.0.1, e.g. this, i.e. that',
  'node.js and foo.bar.baz() at 10:30, ASP.NET',
  'C:\\Users\\x and // a comment',
  'the https: scheme',
  'An ellipsis...then more.Next sentence',
  'const { id } = req.body; user.name = row.id; list.map(one); event.target.id; window.top; console.info(x)',
  'rect.top - rect.left, this.state, self.data, os.path.join(a), np.array([1]), Math.max(a.b, c.d)',
  'dies ist das Ende.Is it? It ended.In May. Object.keys(process.env), arr.at(0), media.play(), cell.style = 1',
  'import java.util.List; com.example.Main; System.out.println(); std::vec v.push_back(1); file.tar.gz a.ts b.rs',
];

describe('every host is denied', () => {
  const rule = { deny: ['*'] };
  test.each(WAYS)('%s leads to one', async (text) => expect(await countOf(rule, text)).toBeGreaterThan(0));
  test.each(SHOWN)('%s leads to one', async (text) => expect(await countOf(rule, text)).toBeGreaterThan(0));
  test.each(HARMLESS)('%s leads to none', async (text) => expect(await countOf(rule, text)).toBe(0));
});

describe('hosts that are allowed', () => {
  const rule = { allow: ['good.com', '*.good.com'] };

  test.each(WAYS)('%s leads to another one', async (text) => {
    expect(await countOf(rule, text)).toBeGreaterThan(0);
  });

  test.each([
    ...HARMLESS,
    'https://good.com/evil.html',
    'see https://docs.good.com/a/b?c=d#e, or good.com.',
    '(https://good.com)',
    'https://good.com:8443/x',
  ])('%s leads to no other one', async (text) => expect(await countOf(rule, text)).toBe(0));

  test('subdomains of an allowed host are not allowed', async () => {
    expect(await countOf({ allow: ['good.com'] }, 'https://evil.good.com')).toBe(1);
    expect(await countOf({ allow: ['*.good.com'] }, 'https://good.com https://evilgood.com')).toBe(2);
  });

  test('deny overrides allow', async () => {
    expect(await countOf({ allow: ['*.good.com'], deny: ['bad.good.com'] }, 'https://bad.good.com')).toBe(1);
  });
});

test('spans are those of the text, wherever an address stands in it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: fc.constantFrom('a', ' ', '\n', '😀', 'ﬁ', '\u200b') }), async (before) => {
      const url = 'https://evil.com/a';
      const { spans } = await checkUrls({ deny: ['evil.com'] }).judge(judged(`${before} ${url} b`), patient);
      const [span] = spans ?? [];
      expect(`${before} ${url} b`.slice(span?.start, span?.end)).toBe(url);
    }),
  );
});

test('no address is lost between two pieces of a long text', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 13_000, max: 33_000 }), async (before) => {
      expect(await countOf({ deny: ['evil.com'] }, `${'x '.repeat(before / 2)}https://evil.com `)).toBe(1);
    }),
    { numRuns: runs(50) },
  );
});

test('an address of version 6 is taken with brackets and without', async () => {
  for (const host of ['2001:db8::1', '[2001:db8::1]', '2001:DB8:0::1', '::ffff:203.0.113.7'])
    expect(await countOf({ deny: [host] }, 'http://[2001:db8::1]/ http://203.0.113.7/')).toBe(1);
  for (const host of ['2001:db8', 'a:80', '2001:db8::1/64'])
    expect(() => checkUrls({ deny: [host] })).toThrow('no host name');
});
