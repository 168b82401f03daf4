// `bun run docs`: writes the reference from the code, then builds the site that the gateway serves at /docs.
import { join } from 'node:path';
import { ensureDocs } from '../../../apps/gateway/bin/ensure-dashboard';
import { REFERENCE, referencePages } from '../docs/reference/pages';

for (const [file, text] of Object.entries(await referencePages())) await Bun.write(join(REFERENCE, file), text);
process.exit((await ensureDocs()) ? 0 : 1);
