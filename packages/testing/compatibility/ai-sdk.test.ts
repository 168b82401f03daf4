import { aiSdkClients } from './clients/ai-sdk';
import { proveClients } from './prove-clients';

proveClients(aiSdkClients);
