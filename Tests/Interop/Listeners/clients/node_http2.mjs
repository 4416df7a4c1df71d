// node's `http2`, 50 streams at once on one connection.
import fs from 'node:fs';
import http2 from 'node:http2';

const world = JSON.parse(fs.readFileSync(process.argv[2]));
const ca = fs.readFileSync(world.ca);

function connect(url, options = {}) {
  return new Promise((resolve, reject) => {
    const session = http2.connect(url, {ca, ...options}, () => resolve(session));
    session.on('error', reject);
  });
}

function call(session, fields, body) {
  return new Promise((resolve, reject) => {
    const stream = session.request(fields, {endStream: body === undefined && fields[':method'] !== 'POST'});
    let head, text = '', continued = false;
    stream.setEncoding('utf8');
    stream.setTimeout(20000, () => stream.destroy(new Error(`${fields[':path']}: no answer`)));
    stream.on('response', found => { head = found; });
    stream.on('continue', () => { continued = true; stream.end(body); });
    stream.on('data', data => { text += data; });
    stream.on('end', () => resolve({status: head[':status'], head, text, continued}));
    stream.on('error', reject);
    if (!fields.expect && !stream.writableEnded) stream.end(body);
  });
}

function expect(truth, words) { if (!truth) throw new Error(JSON.stringify(words)); }

const open = await connect(world.public);
const certified = await call(open, {
  ':method': 'POST', ':path': '/certificates', 'content-type': 'application/json', expect: '100-continue',
}, JSON.stringify({csr: world.csrs[0]}));
expect(certified.status === 201 && certified.continued, certified);
open.close();

const session = await connect(world.client, {
  cert: fs.readFileSync(world.certificate), key: fs.readFileSync(world.key),
});
const authorization = `Layer session-token="${world.token}"`;
await Promise.all(Array.from({length: 50}, async () => {
  const nonce = await call(session, {':method': 'POST', ':path': '/nonces'});
  expect(nonce.status === 201 && JSON.parse(nonce.text).nonce, nonce);
  const head = await call(session, {':method': 'HEAD', ':path': '/sessions/current', authorization});
  expect(head.status === 200 && head.text === '', head);
  const current = await call(session, {':method': 'GET', ':path': '/sessions/current', authorization});
  expect(current.status === 200 && JSON.parse(current.text).user_id === world.user_id, current);
  const choices = await call(session, {':method': 'OPTIONS', ':path': '/me'});
  expect(choices.status === 204 && choices.head.allow.includes('PATCH'), choices);
}));
session.close();
console.log('HTTP/2');
