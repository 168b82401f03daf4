import { embeddingClients } from './clients/embedders';
import { isPython } from './clients/python';
import { proveEmbedders } from './prove-clients';

proveEmbedders(embeddingClients.filter((one) => !isPython(one)));
