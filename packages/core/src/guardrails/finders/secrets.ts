import type { Finder } from '../span';
import { findConnectionStrings } from './connection-string';
import { findPrivateKeys } from './private-key';
import { findTokens } from './token';

/** What gives access: each is looked for by itself, so that none waits for what is open of another one. */
export const SECRET_FINDERS: readonly Finder[] = [findPrivateKeys, findTokens, findConnectionStrings];
