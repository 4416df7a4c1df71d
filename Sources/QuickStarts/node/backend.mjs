// A backend with its own users, whose sessions Countersign keeps: a small HTTP server on loopback.
import crypto from 'node:crypto';
import http from 'node:http';
import * as service from './service.mjs';
import {event, origin, verify} from './sessions.mjs';

const {Refusal} = service;
const accounts = new Map([['ada', 'correct horse'], ['ben', 'battery staple']]); // in place of your table of hashes

async function text(request) {
  const parts = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > 65_536) throw new Refusal(413, 'too_large', '64 KiB at most');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

async function json(request) {
  const value = JSON.parse(await text(request));
  if (Object.values(value).some(member => typeof member !== 'string')) throw new SyntaxError('texts are needed');
  return value;
}

function logIn({user, password, nonce}) {
  const [wanted, given] = [accounts.get(user) ?? '', password].map(word => service.digest(word));
  if (!accounts.has(user) || !crypto.timingSafeEqual(Buffer.from(wanted), Buffer.from(given))) {
    throw new Refusal(403, 'access_denied', 'user or password is wrong');
  }
  return {identity_token: service.identityToken(user, nonce)};
}

// Each call: a status, and a value for the response.
const calls = {
  'POST /login': async request => [200, logIn(await json(request))],
  'GET /me': async request => [200, await verify(request)],
  'GET /me/user': async request => [200, await service.user((await verify(request)).external_id)],
  'DELETE /me/sessions': async request => [204, await service.endSessions((await verify(request)).external_id)],
  'POST /events': async request => [202, void await event(await text(request))],
  'POST /doctor': async request => [200, await service.doctor((await json(request)).identity_token)],
};

async function answer(request) {
  const name = `${request.method} ${request.url.split('?')[0]}`;
  try {
    if (!Object.hasOwn(calls, name)) throw new Refusal(404, 'not_found', 'unknown call');
    return await calls[name](request);
  } catch (error) {
    const {status, code} = error instanceof Refusal ? error : {status: 400, code: 'invalid_request'};
    return [status, {error: code, error_description: error.message}];
  }
}

const server = http.createServer(async (request, response) => {
  const [status, value] = await answer(request);
  const headers = {'Content-Type': 'application/json'};
  if (status === 401) headers['WWW-Authenticate'] = `DPoP error="${value.error}"`;
  if (status >= 400) headers.Connection = 'close';
  response.writeHead(status, headers).end(value === undefined ? undefined : JSON.stringify(value));
});

if (process.env.EVENTS) {
  await service.receiveEvents(process.env.EVENTS).catch(error => {
    const hint = 'a URL on loopback needs countersign serve --loopback-urls';
    console.error(`EVENTS was not registered (${hint}): ${error.message}`);
    process.exit(1);
  });
}
server.listen(Number(process.env.PORT ?? 8460), '127.0.0.1', () => console.log(`ready: ${origin}`));
