import { openaiChatClient } from './clients/openai-chat';
import { openaiResponsesClient } from './clients/openai-responses';
import { proveClients } from './prove-clients';

proveClients([openaiChatClient, openaiResponsesClient]);
