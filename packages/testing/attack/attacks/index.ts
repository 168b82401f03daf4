import type { Attack } from '../attack';
import { ADMIN } from './admin';
import { BODIES } from './bodies';
import { FREEZING } from './freezing';
import { HONEST_BODIES } from './honest';
import { HOSTILE_ANSWERS } from './hostile-answers';
import { JSON_ATTACKS } from './json';
import { MONEY } from './money';
import { NAMES_WITHOUT_END } from './names';
import { PASSING_THROUGH } from './passing-through';
import { VENDOR_FIELDS } from './vendor-fields';

/** All that is played, in this order. */
export const ATTACKS: readonly Attack[] = [
  ...FREEZING,
  ...JSON_ATTACKS,
  ...HONEST_BODIES,
  ...BODIES,
  ...HOSTILE_ANSWERS,
  ...MONEY,
  ...PASSING_THROUGH,
  ...VENDOR_FIELDS,
  ...NAMES_WITHOUT_END,
  ...ADMIN,
];
