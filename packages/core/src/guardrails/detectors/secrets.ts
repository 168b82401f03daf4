import type { Detector } from '../span';
import { findConnectionStrings } from './connection-string';
import { findPrivateKeys } from './private-key';
import { findTokens } from './token';

/** Detectors of credentials. Each searches separately, so that none waits for an open match of another. */
export const SECRET_DETECTORS: readonly Detector[] = [findPrivateKeys, findTokens, findConnectionStrings];
