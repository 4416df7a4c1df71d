import Domain
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import Tokens

/// Where a call is sent, and whose processor time it takes.
struct MeasuredServer: Sendable {
    let name: String
    let process: MeasuredProcess
    /// Mutual TLS.
    let port: Int
    /// TLS of the server alone.
    let openPort: Int
    /// Whether it is the service, and not a peer.
    var isOwn: Bool { name == "Countersign" }
}

/// Servers that engineers know, on the same machine and in the same run: nginx with a table of tokens and a fixed answer,
/// and Node.js that does in memory what the calls take at least. Both have the service's certificate and authority, and
/// write one log line a request. They have no store, no expiry and no revocation. CFSSL issues certificates, and keeps none.
struct PeerServers {
    /// nginx and Node.js.
    let all: [PeerProcess]
    let cfssl: PeerProcess

    /// - Parameter tokens: session tokens that both know.
    static func start(
        beside service: RunningService, tokens: [String], provider: BenchmarkProvider, bearer: String
    ) async throws -> PeerServers {
        let directory = service.path("peers")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try tokens.joined(separator: "\n").write(
            to: directory.appending(path: "tokens"), atomically: true, encoding: .utf8)
        let keys = service.path("Keys").path
        let nginxPorts = try (Int(FreePort.next()), Int(FreePort.next()))
        try nginxSettings(nginxPorts, keys, tokens, bearer).write(
            to: directory.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
        let nodePorts = try (Int(FreePort.next()), Int(FreePort.next()))
        try JSONSerialization.data(withJSONObject: [
            "port": nodePorts.0, "openPort": nodePorts.1, "directory": keys, "answer": BareServer.answer,
            "issuer": provider.id.description, "bearer": "Bearer \(bearer)",
            "keys": [provider.rs256, provider.es256].map {
                ["kid": $0.id.description, "alg": $0.signer.algorithm.rawValue, "pem": $0.signer.publicKeyPEM]
            },
        ]).write(to: directory.appending(path: "peer.json"))
        let script = RunningService.root.appending(path: "Tests/Benchmarks/peer.cjs").path
        let nginx = try await PeerProcess.start(
            "nginx", ["-p", directory.path, "-c", "nginx.conf"], in: directory, ports: nginxPorts)
        var started = [nginx]
        do {
            started.append(try await PeerProcess.start("node", [script], in: directory, ports: nodePorts))
            let port = try Int(FreePort.next())
            let cfssl = try await PeerProcess.start(
                "cfssl",
                [
                    "serve", "-address", "127.0.0.1", "-port", "\(port)", "-ca", "\(keys)/ca.pem",
                    "-ca-key", "\(keys)/ca.key", "-tls-cert", "\(keys)/server.pem", "-tls-key", "\(keys)/server.key",
                    "-loglevel", "2",
                ], in: directory, ports: (port, port))
            return PeerServers(all: started, cfssl: cfssl)
        } catch {
            for peer in started { peer.stop() }
            throw error
        }
    }

    func stop() {
        for peer in all + [cfssl] { peer.stop() }
    }

    private static func nginxSettings(
        _ ports: (Int, Int), _ keys: String, _ tokens: [String], _ bearer: String
    ) -> String {
        let entries = (tokens.map { "Layer session-token=\"\($0)\"" } + ["Bearer \(bearer)"])
            .map { "'\($0)' 1;" }.joined(separator: "\n")
        func server(_ port: Int, _ verify: String) -> String {
            """
            server {
              listen 127.0.0.1:\(port) ssl http2 backlog=4096;
              ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate \(keys)/server.pem; ssl_certificate_key \(keys)/server.key;
              ssl_client_certificate \(keys)/ca.pem; ssl_verify_client \(verify);
              default_type application/json;
              location = /nonces { return 201 '\(BareServer.answer)'; }
              location / { if ($known = 0) { return 401; } return 200 '\(BareServer.answer)'; }
            }
            """
        }
        return """
            daemon off; pid nginx.pid; error_log error.log warn; worker_processes 2;
            events { worker_connections 16384; }
            http {
              access_log access.log; map_hash_max_size 1048576; map_hash_bucket_size 1024;
              keepalive_requests 100000000; keepalive_timeout 600s; ssl_session_cache shared:sessions:10m;
              client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
              uwsgi_temp_path uwsgi; scgi_temp_path scgi;
              map $http_authorization $known { default 0; \(entries) }
              \(server(ports.0, "on"))
              \(server(ports.1, "off"))
            }
            """
    }
}

/// A peer as a process of its own.
struct PeerProcess {
    private let process: Process
    let server: MeasuredServer

    /// Starts a program and waits until it accepts connections.
    static func start(
        _ name: String, _ arguments: [String], in directory: URL, ports: (Int, Int)
    ) async throws -> PeerProcess {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [name] + arguments
        process.currentDirectoryURL = directory
        var environment = ProcessInfo.processInfo.environment
        environment["PATH", default: ""] += ":/usr/sbin"
        process.environment = environment
        try process.run()
        let server = MeasuredServer(
            name: name, process: MeasuredProcess(id: process.processIdentifier), port: ports.0, openPort: ports.1)
        for _ in 0..<100 where process.isRunning {
            if let channel = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: server.port).get()
            {
                try? await channel.close()
                return PeerProcess(process: process, server: server)
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        process.terminate()
        throw BenchmarkError("\(name) did not start: install it, or look into \(directory.path)")
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}
