import { type Json, writeJson } from './edge-values';
import type { FuzzCase } from './make-case';
import { placesOf } from './mutate';

const MOST_TRIES = 300;

/** Takes away, one by one, whatever a finding does not need. */
export async function shrink(whole: FuzzCase, isStillSo: (smaller: FuzzCase) => Promise<boolean>): Promise<FuzzCase> {
  let best = whole;
  let tries = 0;
  const attempt = async (smaller: FuzzCase) => {
    tries += 1;
    const isSo = tries <= MOST_TRIES && (await isStillSo(smaller));
    if (isSo) best = smaller;
    return isSo;
  };
  for (const name of Object.keys(whole.headers)) {
    if (name === 'authorization') continue;
    const { [name]: _gone, ...headers } = best.headers;
    await attempt({ ...best, headers });
  }
  await attempt({ ...best, path: best.path.split('?')[0] ?? best.path });
  for (let isSmaller = true; isSmaller && tries < MOST_TRIES; ) {
    isSmaller = false;
    for (const body of smallerBodies(best.body)) {
      if (await attempt({ ...best, body })) {
        isSmaller = true;
        break;
      }
    }
  }
  return best;
}

/** The same JSON, a value less. */
function* smallerBodies(body: Buffer | undefined): Generator<Buffer | undefined> {
  if (body === undefined) return;
  yield undefined;
  let value: Json;
  try {
    value = JSON.parse(body.toString()) as Json;
  } catch {
    yield body.subarray(0, body.length / 2);
    return;
  }
  const count = placesOf(value).length;
  for (let i = 0; i < count; i++) {
    const copy = structuredClone(value);
    const place = placesOf(copy)[i];
    if (place === undefined) continue;
    if (Array.isArray(place.holder)) place.holder.splice(Number(place.name), 1);
    else delete place.holder[place.name];
    yield Buffer.from(writeJson(copy));
  }
}
