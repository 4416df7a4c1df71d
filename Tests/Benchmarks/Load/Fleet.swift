import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// A certified device of the load program.
struct LoadDevice: Sendable {
    let id: String
    let tls: NIOSSLContext
    let certificatePEM: String
    let keyPEM: String
}

/// Devices, and the keep-alive connections that they hold open.
struct Fleet: Sendable {
    let devices: [LoadDevice]
    let connections: [LoadConnection]

    /// The first device's, the second's, …, around and around.
    func device(of connection: Int) -> LoadDevice { devices[connection % devices.count] }

    /// Certifies devices over the public listener and opens connections of theirs to a port.
    static func certify(_ count: Int, on service: RunningService, group: MultiThreadedEventLoopGroup) async throws
        -> [LoadDevice]
    {
        let authority = service.path("Keys/ca.pem").path
        let open = try context(authority: authority)
        var devices: [LoadDevice] = []
        for _ in 0..<count {
            let key = P256.Signing.PrivateKey()
            let csr = try TestAuthority.certificationRequest(commonName: UUID().uuidString.lowercased(), key: key)
            let connection = try await LoadConnection.open(port: port(service.publicURL), tls: open, on: group.next())
            let body = JSONValue.object([JSONMember(name: "csr", value: .string(csr))]).jsonText
            let answers = try await connection.run([RequestBytes.make("POST", "/certificates", body: body)])
            guard answers[0].status == 201,
                let value = try? StrictJSON.parse(Array(answers[0].body.readableBytesView)),
                let certificate = value["certificate"]?.text, let id = value["device_id"]?.text
            else { throw BenchmarkError("no certificate: \(answers[0].status)") }
            let keyPEM = key.pemRepresentation
            devices.append(
                LoadDevice(
                    id: id, tls: try context(authority: authority, certificate: certificate, key: keyPEM),
                    certificatePEM: certificate, keyPEM: keyPEM))
        }
        return devices
    }

    static func connect(
        _ devices: [LoadDevice], count: Int, port: Int, group: MultiThreadedEventLoopGroup
    ) async throws -> Fleet {
        var connections: [LoadConnection] = []
        for index in 0..<count {
            connections.append(
                try await LoadConnection.open(
                    port: port, tls: devices[index % devices.count].tls, on: group.next()))
        }
        return Fleet(devices: devices, connections: connections)
    }

    /// Runs one list of requests on each connection, all at once.
    func run(_ requests: [[ByteBuffer]]) async throws -> [[Answer]] {
        try await withThrowingTaskGroup(of: (Int, [Answer]).self) { group in
            for (index, list) in requests.enumerated() {
                group.addTask { (index, try await connections[index].run(list, repeating: 20)) }
            }
            var answers = [[Answer]](repeating: [], count: requests.count)
            for try await (index, list) in group { answers[index] = list }
            return answers
        }
    }

    func close() async {
        for connection in connections { await connection.close() }
    }

    static func context(
        authority: String, certificate: String? = nil, key: String? = nil, protocols: [String] = []
    ) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.applicationProtocols = protocols
        configuration.trustRoots = .file(authority)
        if let certificate, let key {
            configuration.certificateChain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map {
                .certificate($0)
            }
            configuration.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem))
        }
        return try NIOSSLContext(configuration: configuration)
    }

    static func port(_ url: String) -> Int { url.split(separator: ":").last.flatMap { Int($0) } ?? 0 }
}
