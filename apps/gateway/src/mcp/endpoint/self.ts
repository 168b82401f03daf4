import type { JsonObject } from '@llm0/core/chat/json';
import type { Services } from '../../services/contract';

/** The gateway, as clients and servers are told. */
export const selfOf = ({ version }: Pick<Services, 'version'>): JsonObject => ({ name: 'llm0-gateway', version });
