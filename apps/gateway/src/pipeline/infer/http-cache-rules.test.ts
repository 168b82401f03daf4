// What RFC 9111 (and RFC 5861 for staleness) asks of a shared cache, by section; on both kinds of caches.
import { afterEach, describe, expect, test } from 'bun:test';
import { CACHE_KINDS, type InferUnderTest, openInfer } from './open-infer.fixture';

type Fields = Readonly<Record<string, string>>;

interface Step {
  /** Seconds since the step before. */
  readonly after?: number;
  readonly method?: string;
  readonly path?: string;
  readonly send?: Fields;
  /** How the origin answers from now on; `date` in seconds from now. */
  readonly origin?: {
    readonly status?: number;
    readonly fields?: Fields;
    readonly body?: string;
    readonly date?: number;
  };
  readonly expect: {
    readonly cache?: 'HIT' | 'MISS' | 'STALE' | null;
    readonly status?: number;
    readonly body?: string;
    readonly fields?: Fields;
    /** What the origin got; null = nothing. */
    readonly asked?: Fields | null;
  };
}

type Case = readonly [section: string, steps: readonly Step[]];

const MISS = { cache: 'MISS' } as const;
const HIT = { cache: 'HIT', asked: null } as const;
const STALE = { cache: 'STALE' } as const;
const says = (cacheControl: string, more: Fields = {}): Step['origin'] => ({
  fields: { 'cache-control': cacheControl, ...more },
});
/** The same request again, after so many seconds. */
const again = (after: number, expected: Step['expect'], more: Partial<Step> = {}): Step => ({
  after,
  expect: expected,
  ...more,
});
const first = (origin: Step['origin'], more: Partial<Step> = {}): Step => ({ origin, expect: MISS, ...more });
const etag = { etag: '"v1"' };
const LAST_WEEK = new Date(Date.parse('2026-02-22T12:00:00Z')).toUTCString();

const CASES: readonly Case[] = [
  // Beyond the RFC: an answer that says nothing is nobody else's where the request says whose it is
  [
    'who is told by a header',
    [first({ fields: {} }, { send: { 'x-auth-token': 'alice' } }), again(1, MISS, { send: { 'x-auth-token': 'bob' } })],
  ],
  [
    'who is told by a header, but it may be kept',
    [
      first(says('max-age=60'), { send: { 'x-auth-token': 'alice' } }),
      again(1, HIT, { send: { 'x-auth-token': 'bob' } }),
      again(2, HIT),
    ],
  ],
  [
    'anything else is told',
    [first({ fields: {} }, { send: { 'remote-groups': 'a' } }), again(1, MISS, { send: { 'remote-groups': 'b' } })],
  ],
  ['nobody is told', [first({ fields: {} }, { send: { accept: 'a/b' } }), again(1, HIT, { send: { accept: 'a/b' } })]],
  ...['CDN-Cache-Control', 'Surrogate-Control', 'Netlify-CDN-Cache-Control', 'Edge-Control'].flatMap((name): Case[] => [
    [`${name}: no-store`, [first(says('max-age=60', { [name.toLowerCase()]: 'no-store' })), again(1, MISS)]],
    [`${name}: no-store alone`, [first({ fields: { [name.toLowerCase()]: 'No-Store' } }), again(1, MISS)]],
    [`${name}: private`, [first(says('public, max-age=60', { [name.toLowerCase()]: 'private' })), again(1, MISS)]],
    [
      `${name}: max-age=5`,
      [first(says('s-maxage=60', { [name.toLowerCase()]: 'max-age=5' })), again(1, HIT), again(9, MISS)],
    ],
    [
      `${name}: max-age=90`,
      [first({ fields: { [name.toLowerCase()]: 'max-age=90' } }), again(80, HIT), again(20, MISS)],
    ],
  ]),
  ...['private;', 'private; max-age=60', 'max-age=60; private', 'max-age=60;no-store', 'no-store ;max-age=9'].map(
    (text): Case => [`3 ${text}`, [first(says(text)), again(1, MISS)]],
  ),
  // Storing
  ['3 no-store in an answer', [first(says('no-store, max-age=60')), again(1, MISS)]],
  [
    '3 no-store in a request',
    [first(says('max-age=60'), { send: { 'cache-control': 'no-store' }, expect: { cache: null } }), again(1, MISS)],
  ],
  ['3 private is of one user', [first(says('private, max-age=60')), again(1, MISS)]],
  ['3 private of some fields', [first(says('private="x-own", max-age=60')), again(1, MISS)]],
  ['3 no-store in any case of letters', [first(says('No-Store, Max-Age=60')), again(1, MISS)]],
  [
    '3 a status that is not understood',
    [first({ status: 299, fields: { 'cache-control': 'max-age=60' } }), again(1, MISS)],
  ],
  [
    '3 a partial answer',
    [first({ status: 206, fields: { 'cache-control': 'max-age=60', 'content-range': 'bytes 0-1/9' } }), again(1, MISS)],
  ],
  [
    '3 404 with a lifetime',
    [first({ status: 404, fields: { 'cache-control': 'max-age=60' } }), again(1, { ...HIT, status: 404 })],
  ],
  ['3 404 without one', [first({ status: 404 }), again(1, { ...MISS, status: 404 })]],
  ['3 500 without one', [first({ status: 500 }), again(1, { ...MISS, status: 500 })]],
  ['3 301 without one', [first({ status: 301, fields: { location: '/x' } }), again(1, { ...HIT, status: 301 })]],
  ['3 302 without one', [first({ status: 302, fields: { location: '/x' } }), again(1, { ...MISS, status: 302 })]],
  [
    '3 302 with one',
    [
      first({ status: 302, fields: { location: '/x', 'cache-control': 'max-age=9' } }),
      again(1, { ...HIT, status: 302 }),
    ],
  ],
  ['3 what sets a cookie', [first({ fields: { 'set-cookie': 'a=b', 'cache-control': 'max-age=60' } }), again(1, MISS)]],
  [
    '3 what sets a cookie and is public',
    [first({ fields: { 'set-cookie': 'a=b', 'cache-control': 'public, max-age=60' } }), again(1, HIT)],
  ],
  [
    '3.1 the fields of the connection are not kept',
    [
      first({ fields: { 'cache-control': 'max-age=60', connection: 'x-hop', 'x-hop': '1', 'x-own': '2' } }),
      again(1, { ...HIT, fields: { 'x-own': '2' } }),
    ],
  ],
  [
    '3.3 a part that is asked for is passed on',
    [
      first(says('max-age=60'), {
        send: { range: 'bytes=0-1' },
        expect: { cache: null, asked: { range: 'bytes=0-1' } },
      }),
      again(1, MISS),
      again(1, { cache: null }, { send: { range: 'bytes=0-1' } }),
    ],
  ],

  // Choosing
  ['4 another path is another resource', [first(says('max-age=60')), again(1, MISS, { path: '/other' })]],
  [
    '4 another query is another resource',
    [
      first(says('max-age=60'), { path: '/a?x=1' }),
      again(1, MISS, { path: '/a?x=2' }),
      again(1, HIT, { path: '/a?x=1' }),
    ],
  ],
  [
    '4 HEAD is answered from what GET brought',
    [
      first({ ...says('max-age=60'), body: 'four' }),
      again(1, { ...HIT, body: '', fields: { 'content-length': '4' } }, { method: 'HEAD' }),
    ],
  ],
  ['4 HEAD brings nothing to keep', [first(says('max-age=60'), { method: 'HEAD' }), again(1, MISS)]],
  [
    '4 POST is never answered from what is kept',
    [first(says('max-age=60'), { method: 'POST', expect: { cache: null } }), again(1, MISS)],
  ],
  [
    '4.1 Vary: the same value',
    [
      first(says('max-age=60', { vary: 'Accept-Language' }), { send: { 'accept-language': 'de' } }),
      again(1, HIT, { send: { 'accept-language': 'de' } }),
    ],
  ],
  [
    '4.1 Vary: another value',
    [
      first(says('max-age=60', { vary: 'Accept-Language' }), { send: { 'accept-language': 'de' } }),
      again(1, MISS, { send: { 'accept-language': 'en' } }),
      again(1, HIT, { send: { 'accept-language': 'en' } }),
      again(1, HIT, { send: { 'accept-language': 'de' } }),
    ],
  ],
  [
    '4.1 Vary: none is another value',
    [
      first(says('max-age=60', { vary: 'Accept-Language' }), { send: { 'accept-language': 'de' } }),
      again(1, MISS),
      again(1, HIT),
    ],
  ],
  [
    '4.1 Vary: spaces in lists make no difference',
    [
      first(says('max-age=60', { vary: 'Accept-Language' }), { send: { 'accept-language': 'de, en' } }),
      again(1, HIT, { send: { 'accept-language': 'de,en' } }),
    ],
  ],
  ['4.1 Vary: * matches nothing', [first(says('max-age=60', { vary: '*' })), again(1, MISS)]],
  ['4.1 Vary: * among others', [first(says('max-age=60', { vary: 'Accept, *' })), again(1, MISS)]],
  [
    '4.1 Vary: several fields',
    [
      first(says('max-age=60', { vary: 'x-a, X-B' }), { send: { 'x-a': '1', 'x-b': '2' } }),
      again(1, MISS, { send: { 'x-a': '1', 'x-b': '3' } }),
      again(1, HIT, { send: { 'x-a': '1', 'x-b': '2' } }),
    ],
  ],
  [
    '4.1 an encoding chosen without a word',
    [
      first(
        { fields: { 'cache-control': 'max-age=60', 'content-encoding': 'x-own' } },
        { send: { 'accept-encoding': 'x-own' } },
      ),
      again(1, MISS, { send: { 'accept-encoding': 'identity' } }),
    ],
  ],

  // Freshness
  ['4.2.1 s-maxage before max-age', [first(says('max-age=1, s-maxage=10')), again(5, HIT), again(6, MISS)]],
  [
    '4.2.1 max-age before Expires',
    [
      first({ fields: { 'cache-control': 'max-age=10', expires: 'Thu, 01 Jan 1970 00:00:00 GMT' } }),
      again(5, HIT),
      again(6, MISS),
    ],
  ],
  ['4.2.1 max-age=0 is stale at once', [first(says('max-age=0')), again(0, MISS)]],
  ['4.2.1 a max-age that is no number is stale', [first(says('max-age=soon')), again(0, MISS)]],
  ['4.2.1 a negative max-age is stale', [first(says('max-age=-5')), again(0, MISS)]],
  ['4.2.1 of two values the lower', [first(says('max-age=100, max-age=2')), again(1, HIT), again(2, MISS)]],
  ['4.2.1 quoted values', [first(says('max-age="10"')), again(5, HIT)]],
  ['4.2.1 a comma in a quoted value', [first(says('x="max-age=0, no-store", max-age=10')), again(5, HIT)]],
  ['4.2.1 an endless max-age', [first(says('max-age=99999999999999999999')), again(86_400, HIT)]],
  [
    '4.2.1 Expires after Date',
    [first({ date: 0, fields: { expires: 'Sun, 01 Mar 2026 12:00:10 GMT' } }), again(5, HIT), again(6, MISS)],
  ],
  ['4.2.1 an Expires that is no date', [first({ fields: { expires: '0' } }), again(0, MISS)]],
  [
    '4.2.1 an Expires before Date',
    [first({ date: 0, fields: { expires: 'Sun, 01 Mar 2026 11:00:00 GMT' } }), again(0, MISS)],
  ],
  ['4.2.2 without a word, as CACHE_TTL says', [first({}), again(59, HIT), again(2, MISS)]],
  [
    '4.2.2 however old its last change',
    [first({ fields: { 'last-modified': LAST_WEEK } }), again(59, HIT), again(2, MISS)],
  ],
  [
    '4.2.2 events without end are no state',
    [first({ fields: { 'content-type': 'text/event-stream' } }), again(1, MISS)],
  ],
  [
    '4.2.3 Age counts',
    [first(says('max-age=10', { age: '7' })), again(2, { ...HIT, fields: { age: '9' } }), again(2, MISS)],
  ],
  [
    '4.2.3 a Date of some time ago counts',
    [first({ ...says('max-age=10'), date: -7 }), again(2, { ...HIT, fields: { age: '9' } }), again(2, MISS)],
  ],
  [
    '4.2.3 the older of both',
    [first({ ...says('max-age=100', { age: '7' }), date: -20 }), again(2, { ...HIT, fields: { age: '22' } })],
  ],
  [
    '4.2.3 a Date to come counts for nothing',
    [first({ ...says('max-age=10'), date: 500 }), again(2, { ...HIT, fields: { age: '2' } })],
  ],
  [
    '4.2.3 an Age that is no number',
    [first(says('max-age=10', { age: 'old' })), again(2, { ...HIT, fields: { age: '2' } })],
  ],
  [
    '4.2.3 of two Ages the first',
    [first(says('max-age=10', { age: '3, 900' })), again(2, { ...HIT, fields: { age: '5' } })],
  ],
  ['4.2.4 what is stale is not used', [first(says('max-age=5')), again(5, MISS)]],

  // Validation
  [
    '4.3.1 a stale answer is validated by its tag',
    [
      first(says('max-age=5', etag)),
      again(
        9,
        { ...MISS, asked: { 'if-none-match': '"v1"' }, status: 200, body: 'hello' },
        { origin: { status: 304, fields: { 'cache-control': 'max-age=5', ...etag } } },
      ),
      again(2, HIT),
    ],
  ],
  [
    '4.3.1 and by its last change',
    [
      first(says('max-age=5', { 'last-modified': LAST_WEEK })),
      again(
        9,
        { ...MISS, asked: { 'if-modified-since': LAST_WEEK }, status: 200 },
        { origin: { status: 304, fields: { 'cache-control': 'max-age=5' } } },
      ),
      again(2, HIT),
    ],
  ],
  [
    '4.3.1 the caller’s own conditions do not go on with it',
    [
      first(says('max-age=5', etag)),
      again(
        9,
        { ...MISS, asked: { 'if-none-match': '"v1"' }, status: 200 },
        {
          send: { 'if-none-match': '"other"' },
          origin: { status: 304, fields: { 'cache-control': 'max-age=5', ...etag } },
        },
      ),
    ],
  ],
  [
    '4.3.1 no-cache is kept, and validated each time',
    [
      first(says('no-cache', etag)),
      again(
        1,
        { ...MISS, asked: { 'if-none-match': '"v1"' }, status: 200, body: 'hello' },
        { origin: { status: 304, fields: etag } },
      ),
    ],
  ],
  [
    '4.3.2 a tag that the caller has',
    [
      first(says('max-age=60', etag)),
      again(1, { ...HIT, status: 304, body: '', fields: { etag: '"v1"' } }, { send: { 'if-none-match': '"x", "v1"' } }),
    ],
  ],
  [
    '4.3.2 tags are compared weakly',
    [
      first(says('max-age=60', { etag: 'W/"v1"' })),
      again(1, { ...HIT, status: 304 }, { send: { 'if-none-match': '"v1"' } }),
    ],
  ],
  [
    '4.3.2 another tag',
    [first(says('max-age=60', etag)), again(1, { ...HIT, status: 200 }, { send: { 'if-none-match': '"x"' } })],
  ],
  [
    '4.3.2 any tag',
    [first(says('max-age=60', etag)), again(1, { ...HIT, status: 304 }, { send: { 'if-none-match': '*' } })],
  ],
  [
    '4.3.2 a tag goes before a date',
    [
      first(says('max-age=60', { ...etag, 'last-modified': LAST_WEEK })),
      again(1, { ...HIT, status: 200 }, { send: { 'if-none-match': '"x"', 'if-modified-since': LAST_WEEK } }),
    ],
  ],
  [
    '4.3.2 unchanged since',
    [
      first(says('max-age=60', { 'last-modified': LAST_WEEK })),
      again(1, { ...HIT, status: 304 }, { send: { 'if-modified-since': LAST_WEEK } }),
    ],
  ],
  [
    '4.3.2 changed since',
    [
      first(says('max-age=60', { 'last-modified': LAST_WEEK })),
      again(1, { ...HIT, status: 200 }, { send: { 'if-modified-since': 'Sat, 01 Feb 2025 00:00:00 GMT' } }),
    ],
  ],
  [
    '4.3.2 If-Match is for the origin',
    [
      first(says('max-age=60', etag)),
      again(1, { cache: null, asked: { 'if-match': '"v1"' } }, { send: { 'if-match': '"v1"' } }),
    ],
  ],
  [
    '4.3.3 a new answer takes the place of the old',
    [
      first(says('max-age=5', etag)),
      again(
        9,
        { ...MISS, body: 'new' },
        { origin: { body: 'new', fields: { 'cache-control': 'max-age=5', etag: '"v2"' } } },
      ),
      again(1, { ...HIT, body: 'new', fields: { etag: '"v2"' } }),
    ],
  ],
  [
    '4.3.3 a failure is told, where nothing may stand in',
    [first(says('max-age=5', etag)), again(9, { ...MISS, status: 503 }, { origin: { status: 503 } })],
  ],
  [
    '4.3.4 a 304 renews the fields',
    [
      first(says('max-age=5', { ...etag, 'x-count': '1', 'content-type': 'text/one' })),
      again(
        9,
        { ...MISS, fields: { 'x-count': '2', 'x-new': 'yes', 'content-type': 'text/one' } },
        {
          origin: {
            status: 304,
            fields: { ...etag, 'x-count': '2', 'x-new': 'yes', 'cache-control': 'max-age=50', 'content-length': '0' },
          },
        },
      ),
      again(40, { ...HIT, fields: { 'x-count': '2', 'x-new': 'yes' }, body: 'hello' }),
    ],
  ],
  [
    '4.3.4 a 304 of another answer is none of this one',
    [
      first(says('max-age=5', etag)),
      again(9, { ...MISS, status: 304 }, { origin: { status: 304, fields: { etag: '"v9"' } } }),
    ],
  ],

  // Invalidation
  ...['POST', 'PUT', 'PATCH', 'DELETE'].map(
    (method): Case => [
      `4.4 ${method} makes it forgotten`,
      [first(says('max-age=60')), again(1, HIT), again(1, { cache: null }, { method }), again(1, MISS)],
    ],
  ),
  ['4.4 not by OPTIONS', [first(says('max-age=60')), again(1, { cache: null }, { method: 'OPTIONS' }), again(1, HIT)]],
  [
    '4.4 not by a request that failed',
    [
      first(says('max-age=60')),
      again(1, { cache: null, status: 500 }, { method: 'POST', origin: { status: 500 } }),
      again(1, HIT),
    ],
  ],
  [
    '4.4 not of another resource',
    [first(says('max-age=60')), again(1, { cache: null }, { method: 'POST', path: '/other' }), again(1, HIT)],
  ],
  [
    '4.4 all that Vary tells apart',
    [
      first(says('max-age=60', { vary: 'x-a' }), { send: { 'x-a': '1' } }),
      again(1, MISS, { send: { 'x-a': '2' } }),
      again(1, { cache: null }, { method: 'DELETE' }),
      again(1, MISS, { send: { 'x-a': '1' } }),
      again(1, MISS, { send: { 'x-a': '2' } }),
    ],
  ],

  // Directives of requests
  [
    '5.2.1.1 max-age',
    [
      first(says('max-age=60')),
      again(5, HIT, { send: { 'cache-control': 'max-age=9' } }),
      again(5, MISS, { send: { 'cache-control': 'max-age=9' } }),
    ],
  ],
  [
    '5.2.1.1 max-age=0 asks the origin',
    [
      first(says('max-age=60', etag)),
      again(1, { ...MISS, asked: { 'if-none-match': '"v1"' } }, { send: { 'cache-control': 'max-age=0' } }),
    ],
  ],
  [
    '5.2.1.2 max-stale takes what is stale',
    [first(says('max-age=5')), again(9, STALE, { send: { 'cache-control': 'max-stale=9' } })],
  ],
  [
    '5.2.1.2 and no more than that',
    [first(says('max-age=5')), again(19, MISS, { send: { 'cache-control': 'max-stale=9' } })],
  ],
  [
    '5.2.1.2 without a bound',
    [first(says('max-age=5', etag)), again(999, STALE, { send: { 'cache-control': 'max-stale' } })],
  ],
  [
    '5.2.1.2 not where it must be validated',
    [first(says('max-age=5, must-revalidate', etag)), again(9, MISS, { send: { 'cache-control': 'max-stale' } })],
  ],
  [
    '5.2.1.3 min-fresh',
    [
      first(says('max-age=10')),
      again(5, HIT, { send: { 'cache-control': 'min-fresh=4' } }),
      again(0, MISS, { send: { 'cache-control': 'min-fresh=6' } }),
    ],
  ],
  [
    '5.2.1.4 no-cache asks the origin, and renews',
    [
      first(says('max-age=60')),
      again(
        1,
        { ...MISS, body: 'new' },
        { send: { 'cache-control': 'no-cache' }, origin: { ...says('max-age=60'), body: 'new' } },
      ),
      again(1, { ...HIT, body: 'new' }),
    ],
  ],
  [
    '5.2.1.5 no-store neither reads nor writes',
    [first(says('max-age=60')), again(1, { cache: null }, { send: { 'cache-control': 'no-store' } }), again(1, HIT)],
  ],
  [
    '5.2.1.7 only-if-cached',
    [
      first(says('max-age=60'), { send: { 'cache-control': 'only-if-cached' }, expect: { status: 504, asked: null } }),
      again(0, MISS),
      again(1, HIT, { send: { 'cache-control': 'only-if-cached' } }),
      again(99, { status: 504, asked: null }, { send: { 'cache-control': 'only-if-cached' } }),
    ],
  ],
  ['5.4 Pragma: no-cache in a request', [first(says('max-age=60')), again(1, MISS, { send: { pragma: 'no-cache' } })]],
  [
    '5.4 not beside Cache-Control',
    [first(says('max-age=60')), again(1, HIT, { send: { pragma: 'no-cache', 'cache-control': 'max-age=50' } })],
  ],

  // Directives of answers
  [
    '5.2.2.2 must-revalidate',
    [
      first(says('max-age=5, must-revalidate, stale-while-revalidate=60', etag)),
      again(9, { ...MISS, asked: { 'if-none-match': '"v1"' } }),
    ],
  ],
  [
    '5.2.2.8 proxy-revalidate',
    [first(says('max-age=5, proxy-revalidate, stale-while-revalidate=60')), again(4, HIT), again(9, MISS)],
  ],
  [
    '5.2.2.9 public keeps what nothing else would',
    [first({ status: 404, fields: { 'cache-control': 'public' } }), again(1, { ...HIT, status: 404 })],
  ],
  ['5.2.2.10 s-maxage is never used stale', [first(says('s-maxage=5, stale-while-revalidate=60')), again(9, MISS)]],
  [
    '5.3 Expires is nothing beside s-maxage',
    [first({ fields: { 'cache-control': 's-maxage=10', expires: '0' } }), again(5, HIT)],
  ],
  [
    '5861-3 stale-while-revalidate',
    [
      first(says('max-age=5, stale-while-revalidate=60')),
      again(9, { ...STALE, body: 'hello' }, { origin: { ...says('max-age=5'), body: 'new' } }),
      again(1, { ...HIT, body: 'new' }),
    ],
  ],
  ['5861-3 not beyond it', [first(says('max-age=5, stale-while-revalidate=10')), again(16, MISS)]],
  [
    '5861-4 stale-if-error',
    [
      first(says('max-age=5, stale-if-error=60')),
      again(9, { ...STALE, status: 200, body: 'hello' }, { origin: { status: 503 } }),
      again(60, { ...MISS, status: 503 }),
    ],
  ],
  [
    '5861-4 not for what the origin answers',
    [first(says('max-age=5, stale-if-error=60')), again(9, { ...MISS, status: 404 }, { origin: { status: 404 } })],
  ],
  [
    '5861-4 asked for by the request',
    [
      first(says('max-age=5', etag)),
      again(9, { ...STALE, status: 200 }, { origin: { status: 500 }, send: { 'cache-control': 'stale-if-error=60' } }),
    ],
  ],
];

describe.each(CACHE_KINDS)('the rules of HTTP for a %s cache', (kind) => {
  let open: InferUnderTest | undefined;
  afterEach(async () => {
    await open?.close();
  });

  test.each(CASES)('%s', async (section, steps) => {
    const forwardHeaders = section.includes('Vary') ? ['x-a', 'x-b'] : [];
    open = await openInfer({ kind, backend: { forwardHeaders } });
    const { world } = open;
    for (const [index, step] of steps.entries()) {
      open.wait(step.after ?? 0);
      const { origin, method = 'GET', path = '/thing', send = {} } = step;
      if (origin !== undefined) {
        const { status = 200, fields = {}, body = 'hello', date } = origin;
        const bodiless = [204, 304].includes(status);
        const dated: Fields = date === undefined ? {} : { date: open.date(date) };
        world.origin = () => new Response(bodiless ? null : body, { status, headers: { ...dated, ...fields } });
      }
      world.asked.length = 0;
      const response = await open.ask(path, { method, headers: send, ...(method === 'POST' ? { body: 'x' } : {}) });
      const { cache, status, body, fields = {}, asked } = step.expect;
      const text = await response.text();
      const at = `step ${index + 1}`;
      if (cache !== undefined) expect([at, response.headers.get('x-cache')]).toEqual([at, cache]);
      if (status !== undefined) expect([at, response.status]).toEqual([at, status]);
      if (body !== undefined) expect([at, text]).toEqual([at, body]);
      for (const [name, value] of Object.entries(fields)) {
        expect([at, name, response.headers.get(name)]).toEqual([at, name, value]);
      }
      if (asked === null) expect([at, world.asked.length]).toEqual([at, 0]);
      for (const [name, value] of Object.entries(asked ?? {})) {
        expect([at, name, world.asked.at(-1)?.headers.get(name)]).toEqual([at, name, value]);
      }
      // What goes on in the background is done before the next step.
      await Bun.sleep(2);
    }
  });
});
