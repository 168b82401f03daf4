import { afterAll, beforeAll, describe, test } from 'bun:test';
import type { ClientDriver } from './client-driver';
import { EMBEDDING_FAMILIES, EMBEDDING_FEATURES, type EmbeddingDriver } from './embeddings';
import { FEATURES } from './features';
import { cellOf, FAMILIES, type Matrix, openMatrix } from './matrix';

/** Clients of other languages may have to be installed first. */
export const SETUP_MS = 180_000;

/** A matrix for the tests of a file. */
export function useMatrix(): () => Matrix {
  let matrix: Matrix;
  beforeAll(async () => {
    matrix = await openMatrix();
  }, SETUP_MS);
  afterAll(() => matrix?.close(), SETUP_MS);
  return () => matrix;
}

/** Tests every feature of these clients with every family of models. */
export function proveClients(drivers: readonly ClientDriver[]): void {
  const matrix = useMatrix();
  describe.each([...drivers])('$name', (driver) => {
    for (const family of FAMILIES) {
      const features = FEATURES.filter((feature) => cellOf(driver, family, feature).kind !== 'not applicable');
      test.each(features)(`${family.name}: %s`, (feature) => matrix().prove(driver, family, feature), SETUP_MS);
    }
  });
}

/** Tests every kind of embedding with these clients. */
export function proveEmbedders(drivers: readonly EmbeddingDriver[]): void {
  const matrix = useMatrix();
  describe.each([...drivers])('embeddings by $name', (driver) => {
    for (const family of EMBEDDING_FAMILIES) {
      test.each([...EMBEDDING_FEATURES])(
        `${family.name}: %s`,
        (feature) => matrix().proveEmbeddings(driver, family, feature),
        SETUP_MS,
      );
    }
  });
}
