import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { embeddingClients } from './clients/embedders';
import { COMMAND_LINE_FEATURES, COMMAND_LINES } from './command-lines/prove-command-line';
import { EMBEDDING_FAMILIES, EMBEDDING_FEATURES } from './embeddings';
import { FEATURES } from './features';
import { CLIENTS, cellOf, FAMILIES, familiesOf, type Matrix, openMatrix } from './matrix';
import { DOCUMENT, renderDocument } from './render-document';

// The SDKs for Python and the command lines may have to be installed first.
const SETUP_MS = 180_000;

describe('every client with every model', () => {
  let matrix: Matrix;
  beforeAll(async () => {
    matrix = await openMatrix();
  }, SETUP_MS);
  afterAll(() => matrix?.close(), SETUP_MS);

  for (const driver of CLIENTS) {
    for (const family of FAMILIES) {
      const features = FEATURES.filter((feature) => cellOf(driver, family, feature).kind !== 'not applicable');
      for (const feature of features) {
        test(`${driver.name}, ${family.name}: ${feature}`, () => matrix.prove(driver, family, feature), SETUP_MS);
      }
    }
  }

  for (const program of COMMAND_LINES) {
    for (const family of familiesOf(program)) {
      test.each([...COMMAND_LINE_FEATURES])(
        `${program.name}, ${family.name}: %s`,
        (feature) => matrix.proveCommandLine(program, family, feature),
        SETUP_MS,
      );
    }
  }

  for (const driver of embeddingClients) {
    for (const family of EMBEDDING_FAMILIES) {
      test.each([...EMBEDDING_FEATURES])(
        `embeddings: ${driver.name}, ${family.name}: %s`,
        (feature) => matrix.proveEmbeddings(driver, family, feature),
        SETUP_MS,
      );
    }
  }
});

test('the document says what is proven here (`bun run compatibility` writes it)', async () => {
  expect(await Bun.file(DOCUMENT).text()).toBe(renderDocument());
});
