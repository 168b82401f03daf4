// `bun run compatibility`: tries every client with every model, prints the tables, and writes docs/compatibility.md when
// all of them hold.
import { embeddingClients } from '../compatibility/clients/embedders';
import { EMBEDDING_FAMILIES, EMBEDDING_FEATURES } from '../compatibility/embeddings';
import { FEATURES } from '../compatibility/features';
import { CLIENTS, FAMILIES, openMatrix } from '../compatibility/matrix';
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
console.log(failures.size === 0 ? 'all hold: docs/compatibility.md is written' : `${failures.size} cells do not hold`);
process.exit(failures.size === 0 ? 0 : 1);
