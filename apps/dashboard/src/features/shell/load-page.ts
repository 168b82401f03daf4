import { ApiError } from '../../api/client';

/**
 * Loads a page's file. A gateway that answers has another version: the router reloads the app for the original error.
 * Otherwise a reload would put the browser's error in the app's place, so the error becomes an outage.
 */
export async function loadPage<M>(
  load: () => Promise<M>,
  isThere: () => Promise<boolean> = reachesGateway,
): Promise<M> {
  try {
    return await load();
  } catch (cause) {
    if (await isThere()) throw cause;
    throw new ApiError(
      'This page is not loaded yet, and the gateway cannot be reached. Is it running?',
      0,
      'unreachable',
    );
  }
}

/** True if the gateway serves the app. */
export const reachesGateway = (): Promise<boolean> =>
  fetch('/', { method: 'GET', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
