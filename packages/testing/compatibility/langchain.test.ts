import { langchainClients } from './clients/langchain';
import { proveClients } from './prove-clients';

proveClients(langchainClients);
