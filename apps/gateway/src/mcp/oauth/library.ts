/** Loaded by the first server that asks for a token: it takes a tenth of a start. */
export const loadOauth = () => import('@modelcontextprotocol/client');
