// `bun run compatibility`: tries every client with every model, prints the tables, and writes docs/reference/compatibility.md when
// all of them hold.
import { embeddingClients } from '../compatibility/clients/embedders';
import { COMMAND_LINE_FEATURES, COMMAND_LINES } from '../compatibility/command-lines/prove-command-line';
import { EMBEDDING_FAMILIES, EMBEDDING_FEATURES } from '../compatibility/embeddings';
import { FEATURES } from '../compatibility/features';
import { CLIENTS, FAMILIES, familiesOf, openMatrix } from '../compatibility/matrix';
import { cellName, DOCUMENT, renderDocument } from '../compatibility/render-document';

const failures = new Set<string>();

async function attempt(name: string, proof: () => Promise<void>): Promise<void> {
  try {
    await proof();
  } catch (error) {
    failures.add(name);
    console.error(`${name}: ${error instanceof Error ? error.message : error}`);
  }
}

const matrix = await openMatrix();
try {
  for (const driver of CLIENTS) {
    for (const family of FAMILIES) {
      for (const feature of FEATURES) {
        const name = cellName(driver.name, family.name, feature);
        await attempt(name, () => matrix.prove(driver, family, feature));
      }
    }
  }
  for (const program of COMMAND_LINES) {
    for (const family of familiesOf(program)) {
      for (const feature of COMMAND_LINE_FEATURES) {
        const name = cellName(program.name, family.name, feature);
        await attempt(name, () => matrix.proveCommandLine(program, family, feature));
      }
    }
  }
  for (const driver of embeddingClients) {
    for (const family of EMBEDDING_FAMILIES) {
      for (const feature of EMBEDDING_FEATURES) {
        const name = cellName(driver.name, family.name, feature);
        await attempt(name, () => matrix.proveEmbeddings(driver, family, feature));
      }
    }
  }
} finally {
  await matrix.close();
}
const document = renderDocument(failures);
console.log(document);
if (failures.size === 0) await Bun.write(DOCUMENT, document);
console.log(
  failures.size === 0 ? 'all hold: docs/reference/compatibility.md is written' : `${failures.size} cells do not hold`,
);
process.exit(failures.size === 0 ? 0 : 1);
