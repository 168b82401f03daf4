import type { JsonObject } from '@llm0/core/chat/json';
import type { Services } from '../../services/contract';

/** Identity of the gateway for clients and servers. */
export const selfOf = ({ version }: Pick<Services, 'version'>): JsonObject => ({ name: 'llm0-gateway', version });
