import { embeddingClients } from './clients/embedders';
import { isPython, pythonClients } from './clients/python';
import { proveClients, proveEmbedders } from './prove-clients';

proveClients(pythonClients);
proveEmbedders(embeddingClients.filter(isPython));
