// node's `https`, 50 at once over connections that are kept.
import fs from 'node:fs';
import https from 'node:https';

const world = JSON.parse(fs.readFileSync(process.argv[2]));
const ca = fs.readFileSync(world.ca);
const agent = new https.Agent({
  keepAlive: true, maxSockets: 10, ca,
  cert: fs.readFileSync(world.certificate), key: fs.readFileSync(world.key),
});
const authorization = {Authorization: `Layer session-token="${world.token}"`};

function call(method, url, {headers = {}, body, waits = false, agent: chosen = agent} = {}) {
  return new Promise((resolve, reject) => {
    const request = https.request(url, {method, headers, agent: chosen, ca, timeout: 20000}, answer => {
      let text = '';
      answer.on('data', data => { text += data; });
      answer.on('end', () => resolve({status: answer.statusCode, text, version: answer.httpVersion, continued}));
    });
    let continued = false;
    request.on('continue', () => { continued = true; request.end(body); });
    request.on('timeout', () => request.destroy(new Error(`${method} ${url}: no answer`)));
    request.on('error', reject);
    if (waits) request.flushHeaders(); else request.end(body);
  });
}

function expect(truth, words) { if (!truth) throw new Error(JSON.stringify(words)); }

const csr = JSON.stringify({csr: world.csrs[0]});
const certified = await call('POST', world.public + '/certificates', {
  headers: {'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(csr), Expect: '100-continue'},
  body: csr, waits: true, agent: undefined,
});
expect(certified.status === 201 && certified.continued, certified);
await Promise.all(Array.from({length: 50}, async () => {
  const nonce = await call('POST', world.client + '/nonces');
  expect(nonce.status === 201 && JSON.parse(nonce.text).nonce, nonce);
  const head = await call('HEAD', world.client + '/sessions/current', {headers: authorization});
  expect(head.status === 200 && head.text === '', head);
  const current = await call('GET', world.client + '/sessions/current', {headers: authorization});
  expect(current.status === 200 && JSON.parse(current.text).user_id === world.user_id, current);
}));
const refused = await call('POST', world.client + '/phone-verifications', {
  headers: {'Content-Type': 'application/json', 'Content-Length': 2, Expect: '100-continue'}, body: '{}', waits: true,
});
expect(refused.status === 401 && !refused.continued, refused);
agent.destroy();
console.log(`HTTP/${refused.version}`);
