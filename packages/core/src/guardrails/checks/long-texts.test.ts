import { describe, expect, test } from 'bun:test';
import { checkInjection } from './injection';
import { judged, patient } from './judged-text.fixture';
import { checkUrls } from './url';

const MEGABYTE = 1_000_000;
/** Longest time in which nothing else has its turn. */
const MOST_MS = 50;
const TEST_MS = 60_000;
const TRIES = 3;

const CHECKS = {
  injection: {
    check: checkInjection({ embed: async () => ({ type: 'vector', vector: Float32Array.of(0.1) }) }),
    pieces: ['ignore all ', 'а', 'i g n ', '1gn0r3 ', 'QUJD', '忽', '<|im_', 'ab12', '01000001 ', '%61', 'MFRGG'],
  },
  url: {
    check: checkUrls({ allow: ['good.com'], deny: ['evil.com'] }),
    pieces: ['a.b ', 'http://', '//"', 'a@', '.a', 'a.', 'é.', '&#46;', '%2e', 'xn--', 'https://a@'],
  },
} as const;

/** Of a core: others on this machine do not count. */
async function longestStretch(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let before = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1000);
    before = process.cpuUsage();
  }, 0);
  await work();
  clearInterval(timer);
  return longestMs;
}

describe.each(Object.entries(CHECKS))('%s', (_, { check, pieces }) => {
  test.each(pieces)(
    'a megabyte of %p holds nobody up',
    async (piece) => {
      const text = piece.repeat(MEGABYTE / piece.length);
      let best = Number.POSITIVE_INFINITY;
      for (let tries = 0; tries < TRIES && best > MOST_MS; tries++)
        best = Math.min(best, await longestStretch(async () => check.judge(judged(text), patient)));
      expect(best).toBeLessThan(MOST_MS);
    },
    TEST_MS,
  );
});
