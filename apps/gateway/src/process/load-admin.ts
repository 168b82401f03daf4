import { Hono } from 'hono';

/** Time after the start at which the admin API loads without a request, in milliseconds. */
const LOAD_AFTER_MS = 1000;

/** To be mounted at the paths of these names. */
interface AdminApps {
  readonly admin: Hono;
  readonly auth: Hono;
}

/**
 * Loads the admin API at its first request or soon after the start: its schemas load slowly, and chat needs none.
 * `stop` cancels a pending load.
 */
export function loadAdminLater(load: () => Promise<AdminApps>): {
  readonly admin: Hono;
  readonly auth: Hono;
  readonly stop: () => void;
} {
  let loading: Promise<Hono> | undefined;
  const ready = (): Promise<Hono> => {
    // Routes keep the path they are mounted under.
    loading ??= load().then(({ admin, auth }) => new Hono().route('/admin', admin).route('/auth', auth));
    return loading;
  };
  // A failure goes to the next caller.
  const timer = setTimeout(() => void ready().catch(() => {}), LOAD_AFTER_MS);
  return { admin: passTo(ready), auth: passTo(ready), stop: () => clearTimeout(timer) };
}

/** Loads SCIM at its first request: most gateways have none. To be mounted at `/scim`. */
export function loadScimLater(load: () => Promise<Hono>): Hono {
  let loading: Promise<Hono> | undefined;
  return passTo(() => {
    loading ??= load().then((scim) => new Hono().route('/scim/v2', scim));
    return loading;
  });
}

function passTo(ready: () => Promise<Hono>): Hono {
  const app = new Hono();
  // Passes the server along, which knows the callers' addresses.
  return app.all('*', async (c) => (await ready()).fetch(c.req.raw, c.env));
}
