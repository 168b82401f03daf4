import { DASHES } from '../folded-text';
import type { Detector } from '../span';

const MAY_CHANGE = new RegExp(`[${DASHES}]|\\[[\\dmK]|%[02]`);
const DASH = new RegExp(`[${DASHES}]`, 'g');
/**
 * Terminal colours (ECMA-48, SGR and EL) without their control character, and an encoded blank or line end in a link.
 */
const BETWEEN = /\[(?:\d{1,3}(?:;\d{1,3}){0,4})?m|\[\d?K|%(?:20|0[AaDd])/g;

/** Normalizes without changing the length: all dashes become hyphens, and the ends of a number become bars. */
const plain = (text: string): string =>
  MAY_CHANGE.test(text) ? text.replace(DASH, '-').replace(BETWEEN, (found) => '|'.repeat(found.length)) : text;

/** The detector, for which typography, colours and links are plain. */
export const inPlainText = (detector: Detector): Detector => ({
  ...detector,
  find: (text, isEnd, at) => detector.find(plain(text), isEnd, at),
  openFrom: (text, from, at) => detector.openFrom(plain(text), from, at),
});
