import type { Detector } from '../span';
import { findConnectionStrings } from './connection-string';
import { findPrivateKeys } from './private-key';
import { findTokens } from './token';

/** What gives access: each is looked for by itself, so that none waits for what is open of another one. */
export const SECRET_DETECTORS: readonly Detector[] = [findPrivateKeys, findTokens, findConnectionStrings];
