import { Hono } from 'hono';

/** Milliseconds after the start by which the admin API is loaded even when nobody asks. */
const LOAD_AFTER_MS = 1000;

/**
 * The admin API, loaded at its first request or soon after the start: its schemas take longer to load than all the rest,
 * and a first chat answer needs none of them. `stop` forgets the load that is still to come.
 */
export function loadAdminLater(load: () => Promise<Hono>): { readonly admin: Hono; readonly stop: () => void } {
  let loading: Promise<Hono> | undefined;
  const ready = (): Promise<Hono> => {
    // Routes keep the path they are mounted under.
    loading ??= load().then((admin) => new Hono().route('/admin', admin));
    return loading;
  };
  // A failure is told to whoever asks.
  const timer = setTimeout(() => void ready().catch(() => {}), LOAD_AFTER_MS);
  const admin = new Hono();
  // Passes the server along, which knows the callers' addresses.
  admin.all('*', async (c) => (await ready()).fetch(c.req.raw, c.env));
  return { admin, stop: () => clearTimeout(timer) };
}
