import { anthropicClient } from './clients/anthropic-messages';
import { googleGenaiClient } from './clients/google-genai';
import { proveClients } from './prove-clients';

proveClients([anthropicClient, googleGenaiClient]);
