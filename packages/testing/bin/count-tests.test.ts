import { expect, test } from 'bun:test';
import { countTests } from './count-tests';

test('a report of bun test is counted; a test that was skipped is one that failed', () => {
  const report = `<testsuites><testsuite file="a.test.ts" time="1.5"><testsuite file="a.test.ts" time="1" />
    <testcase name="one" file="a.test.ts" line="1" />
    <testcase name="two" file="a.test.ts" line="2"><failure type="AssertionError" /></testcase>
    <testcase name="three&apos;s &amp; &lt;four&gt;" file="b.test.ts" line="3"><skipped /></testcase>
    <testcase name="five" file="c.test.ts" line="4"></testcase>
  </testsuite></testsuites>`;
  expect(countTests(report)).toEqual({
    passed: 2,
    failed: 2,
    skipped: ["b.test.ts: three's & <four>"],
    broken: new Map([
      ['a.test.ts', { passed: 1, failures: ['two'] }],
      ['b.test.ts', { passed: 0, failures: ["three's & <four>"] }],
    ]),
    files: new Map([
      ['a.test.ts', 1500],
      ['b.test.ts', 0],
      ['c.test.ts', 0],
    ]),
  });
  expect(countTests('')).toEqual({ passed: 0, failed: 0, skipped: [], broken: new Map(), files: new Map() });
});
