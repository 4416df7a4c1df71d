// The quick start's `verify` with two kinds of requests: one that a router shortened, as Express does in
// `app.use('/api', router)`, and one like Fastify's, with a plain map of headers.
import http from 'node:http';

const {verify} = await import(`${process.env.QUICKSTART}/sessions.mjs`);

const shortened = request => Object.assign(request, {originalUrl: request.url, url: request.url.slice('/api'.length)});
const plain = ({method, url, headers}) => ({method, url, originalUrl: url, headers: {...headers}});

http.createServer(async (request, response) => {
  let [status, value] = [200, undefined];
  try {
    value = await verify(request.url.startsWith('/api/') ? shortened(request) : plain(request));
  } catch (error) {
    [status, value] = [error.status ?? 500, {error: error.code, error_description: error.message}];
  }
  response.writeHead(status, {'Content-Type': 'application/json'}).end(JSON.stringify(value));
}).listen(Number(process.env.PORT), '127.0.0.1');
