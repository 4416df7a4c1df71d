import Crypto
import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// An administrator of the role security with a certificate, at the console of a node.
struct ConsoleVisitor: Sendable {
    let tls: NIOSSLContext

    /// Adds an administrator to the store of a service.
    init(_ name: String, on service: RunningService) async throws {
        let key = P256.Signing.PrivateKey()
        let (request, file) = (service.path("\(name).csr"), service.path("\(name).pem"))
        try TestAuthority.certificationRequest(commonName: name, key: key)
            .write(to: request, atomically: true, encoding: .utf8)
        let added = try await service.countersign([
            "admin", "add", name, "--role", "security", "--csr", request.path, "--out", file.path,
        ])
        guard added.status == 0 else { throw BenchmarkError("no administrator: \(added.errors)") }
        tls = try Fleet.context(
            authority: service.path("Keys/ca.pem").path, certificate: String(contentsOf: file, encoding: .utf8),
            key: key.pemRepresentation)
    }

    /// The port of a node's console, as it wrote it when it was ready.
    static func port(of node: RunningService) throws -> Int {
        let ready = try StrictJSON.parse(Data(contentsOf: node.path("ready")))
        guard let place = ready["console"]?.text else { throw BenchmarkError("the node has no console") }
        return Fleet.port(place)
    }

    static func request(_ path: String) -> ByteBuffer {
        RequestBytes.make("GET", path, headers: ["Sec-Fetch-Site: none"])
    }

    /// Asks for pages on a connection of its own, which has its handshake behind it.
    ///
    /// - Parameter pause: for how long each page is looked at.
    func ask(
        _ paths: [String], pausing pause: Duration = .zero, port: Int, on loop: any EventLoop
    ) async throws -> [Answer] {
        let connection = try await LoadConnection.open(port: port, tls: tls, on: loop)
        _ = try await connection.run([Self.request("/nodes")])
        var answers: [Answer] = []
        if pause == .zero {
            answers = try await connection.run(paths.map(Self.request))
        } else {
            for path in paths {
                answers += try await connection.run([Self.request(path)])
                try await Task.sleep(for: pause)
            }
        }
        await connection.close()
        return answers
    }
}
