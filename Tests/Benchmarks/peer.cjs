// A server of Node.js without any store that does what the service's calls take at least: tables in memory, the same
// signatures, one log line a request. It reads peer.json in its directory.
const crypto = require('node:crypto'), fs = require('node:fs'), https = require('node:https');

const settings = JSON.parse(fs.readFileSync('peer.json', 'utf8'));
const known = new Map(fs.readFileSync('tokens', 'utf8').split('\n').map(token => [`Layer session-token="${token}"`, 1]));
const keys = new Map(settings.keys.map(key => [key.kid, { ...key, key: crypto.createPublicKey(key.pem) }]));
const log = fs.createWriteStream('node.log');
const answer = Buffer.from(settings.answer);
const secret = crypto.randomBytes(32), spent = new Set(), sessions = new Map(), users = new Map();

const parsed = part => JSON.parse(Buffer.from(part, 'base64url'));
const sealed = bytes => crypto.createHmac('sha256', secret).update(bytes).digest().subarray(0, 16);

function nonce() {
  const bytes = crypto.randomBytes(24);
  bytes.writeUIntBE(Date.now() + 600_000, 0, 6);
  return { nonce: Buffer.concat([bytes, sealed(bytes)]).toString('base64url') };
}

function signIn(body) {
  const parts = JSON.parse(body).identity_token.split('.');
  const header = parsed(parts[0]), key = keys.get(header.kid);
  if (!key || key.alg !== header.alg) return null;
  const signed = Buffer.from(`${parts[0]}.${parts[1]}`), signature = Buffer.from(parts[2], 'base64url');
  const method = key.alg === 'ES256' ? { key: key.key, dsaEncoding: 'ieee-p1363' } : key.key;
  if (!crypto.verify('sha256', signed, method, signature)) return null;
  const claims = parsed(parts[1]), now = Date.now();
  if (claims.iss !== settings.issuer || claims.exp * 1000 < now) return null;
  const given = Buffer.from(claims.nce, 'base64url'), bytes = given.subarray(0, 24);
  if (!crypto.timingSafeEqual(sealed(bytes), given.subarray(24)) || bytes.readUIntBE(0, 6) < now) return null;
  if (spent.has(claims.nce)) return null;
  spent.add(claims.nce);
  const token = crypto.randomBytes(32).toString('base64url');
  const user = users.get(claims.prn) ?? { id: crypto.randomUUID() };
  users.set(claims.prn, user);
  const session = { session_id: crypto.randomUUID(), user_id: user.id, external_id: claims.prn, created_at: now };
  sessions.set(crypto.createHash('sha256').update(token).digest('base64url'), session);
  return { session_token: token, ...session };
}

function respond(request, body) {
  const url = request.url, authorization = request.headers.authorization;
  if (url === '/sessions/current') return known.has(authorization) ? [200, answer] : [401];
  if (url === '/nonces') return [201, Buffer.from(JSON.stringify(nonce()))];
  if (url === '/sessions') {
    const opened = signIn(body);
    return opened ? [201, Buffer.from(JSON.stringify(opened))] : [401];
  }
  if (url === '/introspect') {
    if (authorization !== settings.bearer) return [401];
    const token = new URLSearchParams(body).get('token');
    return known.has(`Layer session-token="${token}"`) ? [200, answer] : [200, Buffer.from('{"active":false}')];
  }
  return [404];
}

function listen(port, requestCert) {
  const pem = name => fs.readFileSync(`${settings.directory}/${name}`);
  const tls = {
    key: pem('server.key'), cert: pem('server.pem'), ca: pem('ca.pem'), requestCert, rejectUnauthorized: requestCert,
    minVersion: 'TLSv1.2',
  };
  https.createServer({ ...tls, keepAliveTimeout: 600_000 }, (request, response) => {
    const pieces = [];
    request.on('data', piece => pieces.push(piece));
    request.on('end', () => {
      const [status, content] = respond(request, Buffer.concat(pieces).toString());
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': content?.length ?? 0 });
      response.end(content);
      log.write(`{"time":"${new Date().toISOString()}","method":"${request.method}","path":"${request.url}"}\n`);
    });
  }).listen(port, '127.0.0.1');
}

listen(settings.port, true);
listen(settings.openPort, false);
