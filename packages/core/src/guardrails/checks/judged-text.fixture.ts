import type { JudgedText } from '../check';

/** A text of a caller, for tests. */
export const judged = (text: string, more: Partial<JudgedText> = {}): JudgedText => ({
  text,
  on: 'input',
  part: 'user',
  projectId: '00000000-0000-4000-8000-000000000001',
  keyId: '00000000-0000-4000-8000-000000000002',
  requestId: 'request-1',
  ...more,
});

/** Never ends. */
export const patient = new AbortController().signal;
