import { parentPort } from 'node:worker_threads';
import type { SignInThrottle } from '../access/sign-in-throttle';
import type { AdminServices } from '../admin-services';
import { createApi } from '../create-api';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { buildOpenApi } from './openapi-document';

/** Only the schemas of routes are read; no service is ever called. */
const none: unknown = new Proxy(Object, { get: () => none, apply: () => none });

parentPort?.on('message', (version: string) => {
  const api = createApi(none as AdminServices, none as HotStoreMirror, none as SignInThrottle);
  parentPort?.postMessage(JSON.stringify(buildOpenApi(api, version)));
});
