// The service's keys.
import {Refusal, get} from './service.mjs';

let keys = new Map();
let askedAt = -Infinity;
let fetching; // what all who show an unknown key wait for

async function fetchKeys() {
  const found = await get('/.well-known/jwks.json');
  keys = new Map(found.keys.map(key => [key.kid, key]));
}

// A key of the service. Keys are fetched once, and again only for an unknown one, at most once a minute.
export async function serviceKey(id) {
  if (keys.has(id)) return keys.get(id); // and waits for nobody
  if (!fetching && performance.now() - askedAt >= (keys.size > 0 ? 60_000 : 5_000)) {
    askedAt = performance.now();
    fetching = fetchKeys().finally(() => { fetching = undefined; });
  }
  await fetching;
  if (keys.size === 0) throw new Refusal(503, 'temporarily_unavailable', "the service's keys are not known yet");
  return keys.get(id);
}
