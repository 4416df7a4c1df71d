// A backend's calls to Countersign: identity tokens, and queries about users and tokens.
import crypto from 'node:crypto';
import fs from 'node:fs';
import https from 'node:https';

const set = process.env;
export const url = set.SERVICE ?? 'https://127.0.0.1:8440'; // the service's public URL, the issuer of session tokens
export const realm = set.REALM ?? 'localhost'; // the service's name, the issuer of security events
export const provider = JSON.parse(fs.readFileSync(set.PROVIDER ?? 'provider.json')); // from `provider add --json`
const key = crypto.createPrivateKey(fs.readFileSync(set.KEY ?? 'provider.key'));
const algorithm = key.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256';
const agent = new https.Agent({ca: fs.readFileSync(set.CA ?? 'Keys/ca.pem'), keepAlive: true});

// An error response.
export class Refusal extends Error {
  constructor(status, code, reason) { super(reason); this.status = status; this.code = code; }
}

// SHA-256 in base64url, as in JOSE.
export const digest = data => crypto.createHash('sha256').update(data).digest('base64url');

// A token of this provider, for `life` seconds.
function sign(contentType, life, claims) {
  const now = Math.floor(Date.now() / 1000);
  const header = {alg: algorithm, typ: 'JWT', cty: contentType, kid: provider.key_id};
  const all = {...claims, iss: provider.provider_id, aud: realm, iat: now, exp: now + life};
  const input = [header, all].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const signature = crypto.sign('sha256', input, {key, dsaEncoding: 'ieee-p1363'});
  return `${input}.${signature.toString('base64url')}`;
}

function send(method, path, headers = {}, body = '') {
  return new Promise((resolve, reject) => {
    const request = https.request(url + path, {method, headers, agent, timeout: 5000}, answer => {
      let text = '';
      answer.setEncoding('utf8').on('data', part => { text += part; }).on('error', reject).on('end', () => {
        if (answer.statusCode < 300) resolve(text ? JSON.parse(text) : undefined);
        else reject(new Refusal(502, 'service_refused', text));
      });
    });
    request.on('timeout', () => request.destroy(new Error('the service does not respond')));
    request.on('error', error => reject(new Refusal(503, 'temporarily_unavailable', error.message)));
    request.end(body);
  });
}

// A public document of the service.
export const get = path => send('GET', path);

// A call with a token for this one request.
function call(method, path, value) {
  const body = value === undefined ? '' : JSON.stringify(value);
  const token = sign('layer-provider;v=1', 60, {
    jti: crypto.randomUUID(), htm: method, htu: url + path, body_sha256: digest(body),
  });
  const headers = {Authorization: `Bearer ${token}`, 'Content-Type': 'application/json'};
  return send(method, path, {...headers, 'Content-Length': Buffer.byteLength(body)}, body);
}

// States that this user has just logged in on the device with this nonce. Check that before you call it.
export const identityToken = (user, nonce) => sign('layer-eit;v=1', 300, {sub: user, nce: nonce});

// The user's level, age flags and ban, by the service.
export const user = externalID => call('GET', `/provider/users/${encodeURIComponent(externalID)}`);

// Signs a user out on every device.
export const endSessions = externalID => call('DELETE', `/provider/users/${encodeURIComponent(externalID)}/sessions`);

// Every defect that the service finds in an identity token. It does not spend the nonce.
export const doctor = token => call('POST', '/provider/token-check', {identity_token: token});

// Sets the URL to which the service sends security events.
export const receiveEvents = target => call('PUT', '/provider/webhook', {url: target});
