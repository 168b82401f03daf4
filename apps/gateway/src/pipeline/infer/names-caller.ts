import type { Backend } from '@llm0/core/backends/backend';
import { asRead, type FieldTable, NameRule } from './forward-headers';

/** Words of names that prove who somebody is, or say it; also with what they are said by (`userid`, `csrftoken`). */
const CALLER = [
  /(?:^|-)(?:auth|authentication|authorization|jwt|secret|password|signature|credentials?|apikey|cookie)(?:-|$)/,
  /(?:^|-)(?:user(?!-agent$)|account|tenant|session|member|customer|subscriber)(?:id|name)?(?:-|$)/,
  /(?:^|-)(?:uid|login|e?mail|identity|principal|subject|organi[sz]ation|org|(?:client|device|profile)-?id)(?:-|$)/,
  /(?:^|-)(?<!idempotency-)key(?:-|$)|token(?:-|$)/,
] as const;

/** Of the browser, and of the form of the answer: `Accept-Signature` asks for one. */
const OF_THE_PROGRAM = ['sec-', 'accept-'] as const;

const callerNames = new NameRule(
  (read) =>
    read === 'from' ||
    (!OF_THE_PROGRAM.some((start) => read.startsWith(start)) && CALLER.some((words) => words.test(read))),
);

/** Is there a header of the caller's own that may say who it is? */
export function namesCaller(fields: Readonly<FieldTable>, backend: Pick<Backend, 'headers'>): boolean {
  for (const name in fields) {
    if (!callerNames.fits(name)) continue;
    if (!Object.keys(backend.headers).some((own) => asRead(own.toLowerCase()) === asRead(name))) return true;
  }
  return false;
}
