// What a backend accepts from Countersign: sessions, verified without a call, and events that end them.
import crypto from 'node:crypto';
import {serviceKey} from './keys.mjs';
import {Refusal, digest, provider, realm, url} from './service.mjs';

export const origin = process.env.ORIGIN ?? 'http://127.0.0.1:8460'; // this backend, as devices see it
const algorithms = {RS256: ['RSA', 'sha256'], ES256: ['P-256', 'sha256'], ES384: ['P-384', 'sha384']};
const members = {EC: ['crv', 'kty', 'x', 'y'], RSA: ['e', 'kty', 'n']}; // what RFC 7638 hashes
const ending = ['session-revoked', 'account-disabled', 'account-purged'];

const [proofs, endedSessions, endedUsers] = [new Map(), new Map(), new Map()]; // names and times, the oldest first
const proofsOf = new Map(); // the number of proofs of each device's key

// Deletes entries older than `life` seconds, and reports each.
function forget(memory, life, dropped = () => {}) {
  for (const [name, moment] of memory) {
    if (moment >= Date.now() / 1000 - life) break;
    memory.delete(name);
    dropped(name);
  }
}

// One proof more or fewer of a device's key.
function count(thumbprint, change) {
  const held = (proofsOf.get(thumbprint) ?? 0) + change;
  if (held > 0) proofsOf.set(thumbprint, held);
  else proofsOf.delete(thumbprint);
}

// Header and claims of a JWS, and whether this key (a JWK) signed it.
function read(token) {
  const [head, body, signature, more] = token.split('.');
  const [header, claims] = [head, body].map(part => JSON.parse(Buffer.from(part ?? '', 'base64url')));
  if (!signature || more !== undefined || !algorithms[header.alg] || header.crit) throw new Error('no JWS of ours');
  const [kind, hash] = algorithms[header.alg];
  const signedBy = jwk => (jwk.crv ?? jwk.kty) === kind && crypto.verify(
    hash, `${head}.${body}`, {key: jwk, format: 'jwk', dsaEncoding: 'ieee-p1363'}, Buffer.from(signature, 'base64url'));
  return {header, claims, signedBy};
}

// The claims of a token for this provider.
async function signedByService(text, {type, issuer, status, code}) {
  try {
    const {header, claims, signedBy} = read(text);
    const key = await serviceKey(header.kid);
    if (!key || header.typ !== type || !signedBy(key)) throw new Error(`no ${type}, or by an unknown key`);
    if (claims.iss !== issuer || claims.aud !== provider.provider_id) throw new Error('wrong issuer or audience');
    return claims;
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal(status, code, error.message);
  }
}

// The claims of a session's token. They prove nothing until `cnf` was compared with the device.
async function session(token) {
  const claims = await signedByService(token, {type: 'at+jwt', issuer: url, status: 401, code: 'invalid_token'});
  const userEnded = endedUsers.get(claims.external_id) ?? 0;
  if (!(claims.exp > Date.now() / 1000) || endedSessions.has(claims.sid) || !(claims.auth_time > userEnded)) {
    throw new Refusal(401, 'invalid_token', 'the session has ended');
  }
  return claims;
}

// A DPoP proof (RFC 9449) for this request and token, by the key of this thumbprint, used for the first time.
function checkProof(text, method, path, token, thumbprint) {
  const bad = reason => new Refusal(401, 'invalid_dpop_proof', reason);
  let good, name;
  try {
    const {header, claims, signedBy} = read(text);
    const key = Object.fromEntries(members[header.jwk.kty].map(member => [member, header.jwk[member]]));
    if (digest(JSON.stringify(key)) !== thumbprint) throw new Error("by another key than the token's");
    good = signedBy(key) && header.typ === 'dpop+jwt' && claims.htm === method && claims.htu === origin + path
      && claims.ath === digest(token) && typeof claims.jti === 'string'
      && Math.abs(Date.now() / 1000 - claims.iat) <= 60;
    name = `${thumbprint} ${digest(claims.jti)}`;
  } catch (error) {
    throw bad(error.message);
  }
  if (!good) throw bad('for another request or token, or over a minute old');
  forget(proofs, 120, dropped => count(dropped.split(' ')[0], -1));
  if (proofs.has(name) || (proofsOf.get(thumbprint) ?? 0) >= 1_000 || proofs.size >= 100_000) {
    throw bad('used before, or too many in two minutes');
  }
  proofs.set(name, Date.now() / 1000);
  count(thumbprint, 1);
}

// The session of a request with `Authorization: DPoP …` and a proof, or a refusal. The request is of node:http, Express
// or Fastify: a plain map of headers, in which Node joins those of one name by a comma.
export async function verify(request) {
  const [scheme, token] = (request.headers.authorization ?? '').split(' ');
  const shown = request.headers.dpop ?? '';
  if (scheme.toLowerCase() !== 'dpop' || !shown || shown.includes(',')) {
    throw new Refusal(401, 'invalid_token', 'a DPoP token and one proof are required');
  }
  const claims = await session(token);
  const path = (request.originalUrl ?? request.url).split('?')[0]; // routers shorten `url`
  checkProof(shown, request.method, path, token, claims.cnf?.jkt);
  return claims;
}

// A security event (RFC 8417). Sessions that it ends are refused from now on, longer than any token lives.
export async function event(body) {
  const kind = {type: 'secevent+jwt', issuer: realm, status: 400, code: 'invalid_request'};
  const claims = await signedByService(body, kind);
  if (!Object.keys(claims.events).some(name => ending.includes(name.split('/').pop()))) return claims;
  const {session: ended, sub} = claims.sub_id ?? {};
  const [memory, whose] = ended ? [endedSessions, ended.id] : [endedUsers, sub];
  if (typeof whose !== 'string') throw new Refusal(400, 'invalid_request', 'the event has an unknown form of subject');
  forget(memory, 600);
  memory.set(whose, Math.max(claims.toe, memory.get(whose) ?? 0));
  return claims;
}
