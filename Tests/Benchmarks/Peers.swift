import Fixtures
import Foundation
import NIOCore
import NIOPosix

/// Servers that engineers know, on the same machine, in the same run and under the same load: nginx and Node.js over
/// mutual TLS 1.3, each with a table of tokens, a fixed answer and one log line a request. They decide nothing that the
/// service decides: no store, no expiry, no revocation.
struct Peers {
    let service: RunningService
    let devices: [LoadDevice]
    let quick: Bool
    let group: MultiThreadedEventLoopGroup

    private let width = 32

    /// What a check of a session costs at a server.
    struct Check {
        let name: String
        let load: Load
    }

    /// Runs the same requests against nginx, Node.js and the service, in turns, and takes the median of each.
    ///
    /// - Parameter tokens: session tokens; a list for each connection.
    func checks(_ tokens: [[String]]) async throws -> [Check] {
        let tokens = Array(tokens.prefix(width))
        let directory = try directory(tokens.flatMap { $0 })
        let nginx = try PeerProcess.start("nginx", ["-p", directory.path, "-c", "nginx.conf"], in: directory)
        defer { nginx.stop() }
        let node = try PeerProcess.start("node", ["node.cjs"], in: directory)
        defer { node.stop() }
        let servers: [(name: String, process: MeasuredProcess, port: Int)] = [
            ("nginx, a map and a fixed answer", nginx.measured, try await nginx.port()),
            ("node, a Map", node.measured, try await node.port()),
            (
                "Countersign", MeasuredProcess(id: service.processIdentifier), Fleet.port(service.clientURL)
            ),
        ]
        var loads = [[Load]](repeating: [], count: servers.count)
        for _ in 0..<(quick ? 1 : 3) {
            for (index, server) in servers.enumerated() {
                loads[index].append(try await measure(server.process, server.port, tokens))
            }
        }
        return zip(servers, loads).map { server, loads in
            Check(name: server.name, load: loads.sorted { $0.microseconds < $1.microseconds }[loads.count / 2])
        }
    }

    private func measure(_ process: MeasuredProcess, _ port: Int, _ tokens: [[String]]) async throws -> Load {
        let fleet = try await Fleet.connect(devices, count: width, port: port, group: group)
        let requests = tokens.map { list in
            (0..<(quick ? 100 : 3000)).map { index in
                RequestBytes.make(
                    "GET", "/sessions/current",
                    headers: ["Authorization: Layer session-token=\"\(list[index % list.count])\""])
            }
        }
        // The handshakes lie outside the measurement.
        _ = try await fleet.run(requests.map { Array($0.prefix(1)) })
        let load = try await Load.run(
            fleet, processes: process.family, requests: requests, expecting: 200)
        await fleet.close()
        return load
    }

    /// The peers' configuration: the service's certificate and authority, and the tokens of the run.
    private func directory(_ tokens: [String]) throws -> URL {
        let directory = service.path("peers")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let keys = service.path("Keys").path
        let nginxPort = try PeerProcess.freePort()
        let nodePort = try PeerProcess.freePort()
        let entries = tokens.map { "'Layer session-token=\"\($0)\"' 1;" }.joined(separator: "\n")
        let nginx = """
            daemon off; pid nginx.pid; error_log error.log warn; worker_processes 2;
            events { worker_connections 1024; }
            http {
              access_log access.log; map_hash_max_size 1048576; map_hash_bucket_size 256;
              keepalive_requests 100000000; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
              uwsgi_temp_path uwsgi; scgi_temp_path scgi;
              map $http_authorization $known { default 0; \(entries) }
              server {
                listen 127.0.0.1:\(nginxPort) ssl;
                ssl_protocols TLSv1.3; ssl_certificate \(keys)/server.pem; ssl_certificate_key \(keys)/server.key;
                ssl_client_certificate \(keys)/ca.pem; ssl_verify_client on;
                default_type application/json;
                location / { if ($known = 0) { return 401; } return 200 '\(BareServer.answer)'; }
              }
            }
            """
        try nginx.write(to: directory.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
        try "\(nginxPort)".write(to: directory.appending(path: "nginx.port"), atomically: true, encoding: .utf8)
        let node = """
            const fs = require('node:fs'), https = require('node:https');
            const known = new Map(fs.readFileSync('tokens', 'utf8').split('\\n').map(t => [`Layer session-token="${t}"`, 1]));
            const log = fs.createWriteStream('node.log');
            const body = Buffer.from('\(BareServer.answer)');
            https.createServer({
              key: fs.readFileSync('\(keys)/server.key'), cert: fs.readFileSync('\(keys)/server.pem'),
              ca: fs.readFileSync('\(keys)/ca.pem'), requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3',
            }, (request, response) => {
              const found = known.has(request.headers.authorization);
              response.writeHead(found ? 200 : 401, {
                'content-type': 'application/json', 'content-length': found ? body.length : 0 });
              response.end(found ? body : undefined);
              log.write(`{"time":"${new Date().toISOString()}","method":"${request.method}","path":"${request.url}"}\\n`);
            }).listen(\(nodePort), '127.0.0.1');
            """
        try node.write(to: directory.appending(path: "node.cjs"), atomically: true, encoding: .utf8)
        try "\(nodePort)".write(to: directory.appending(path: "node.port"), atomically: true, encoding: .utf8)
        try tokens.joined(separator: "\n").write(
            to: directory.appending(path: "tokens"), atomically: true, encoding: .utf8)
        return directory
    }
}

/// A peer as a process of its own.
struct PeerProcess {
    private let process: Process
    private let name: String
    private let directory: URL

    var measured: MeasuredProcess { MeasuredProcess(id: process.processIdentifier) }

    static func start(_ name: String, _ arguments: [String], in directory: URL) throws -> PeerProcess {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [name] + arguments
        process.currentDirectoryURL = directory
        var environment = ProcessInfo.processInfo.environment
        environment["PATH", default: ""] += ":/usr/sbin"
        process.environment = environment
        try process.run()
        return PeerProcess(process: process, name: name, directory: directory)
    }

    /// Its port, once it accepts connections.
    func port() async throws -> Int {
        let text = try String(contentsOf: directory.appending(path: "\(name).port"), encoding: .utf8)
        guard let port = Int(text) else { throw BenchmarkError("no port for \(name)") }
        for _ in 0..<100 {
            if !process.isRunning { break }
            if let channel = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: port).get()
            {
                try? await channel.close()
                return port
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw BenchmarkError("\(name) did not start: install it, or look into \(directory.path)")
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// A port of the loopback that nobody listens on at this moment.
    static func freePort() throws -> Int {
        let channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).wait()
        defer { try? channel.close().wait() }
        guard let port = channel.localAddress?.port else { throw BenchmarkError("no free port") }
        return port
    }
}
