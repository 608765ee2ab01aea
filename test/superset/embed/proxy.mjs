// node proxy.mjs LISTEN_PORT SUPERSET_PORT AGENTD_PORT [PATH]
// One origin for a try-out: PATH (default /agentd/) goes to agentd without its prefix, the rest to Superset. Nothing
// is buffered, and both see the host that the browser asked for.
import http from 'node:http';

const [listen, superset, agentd, path = '/agentd/'] = process.argv.slice(2);
if (!agentd) {
  console.error('usage: node proxy.mjs LISTEN_PORT SUPERSET_PORT AGENTD_PORT [PATH]');
  process.exit(2);
}

const server = http.createServer((request, response) => {
  const own = request.url.startsWith(path);
  const headers = {
    ...request.headers,
    'x-forwarded-for': request.socket.remoteAddress,
    'x-forwarded-proto': 'http',
    'x-forwarded-host': request.headers.host,
    'x-forwarded-port': String(request.socket.localPort),
  };
  const target = own ? request.url.slice(path.length - 1) : request.url;
  // agent: a connection for each request, since gunicorn closes idle ones at the moment when they would be used again
  const options = { host: '127.0.0.1', port: own ? agentd : superset, method: request.method, path: target, headers, agent: false };
  const upstream = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
  });
  upstream.on('error', () => {
    if (!response.headersSent) response.writeHead(502);
    response.end();
  });
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
});
server.listen(Number(listen), '127.0.0.1', () => console.log(`proxy ready at http://127.0.0.1:${server.address().port}/`));
