import Fixtures
import Foundation
import Hummingbird
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import NIOSSL

/// The bare HTTP stack under the service: mutual TLS, one route, a fixed answer of a session check's size. Run as a
/// process of its own, so that its cost is measured as the service's is.
enum BareServer {
    static let answer = #"{"state":"authenticated","padding":""# + String(repeating: "x", count: 320) + #""}"#

    static func run(keys: URL) async throws {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(keys.appending(path: "server.pem").path).map {
                .certificate($0)
            },
            privateKey: .privateKey(
                try NIOSSLPrivateKey(file: keys.appending(path: "server.key").path, format: .pem)))
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .noHostnameVerification
        tls.trustRoots = .file(keys.appending(path: "ca.pem").path)
        let router = Router()
        router.get("bare") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: answer)))
        }
        var logger = Logger(label: "bare")
        logger.logLevel = .error
        let application = Application(
            router: router, server: try .tls(.http1(), tlsConfiguration: tls),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                FileHandle.standardOutput.write(Data("\(port)\n".utf8))
            }, logger: logger)
        try await application.run()
    }
}

/// The bare server as a process, with a fleet on it. What it costs is measured beside each call of the service, since
/// the machine is not the same from one minute to the next.
struct Bare {
    private let process: Process
    private let fleet: Fleet
    private let perConnection: Int

    /// Starts this program in its bare mode.
    init(_ service: RunningService, quick: Bool, group: MultiThreadedEventLoopGroup) async throws {
        process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = ["bare", service.path("Keys").path]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let line = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            process.terminate()
            throw BenchmarkError("the bare server did not start")
        }
        let devices = try await Fleet.certify(8, on: service, group: group)
        fleet = try await Fleet.connect(devices, count: 64, port: port, group: group)
        perConnection = quick ? 100 : 300
    }

    /// One run of its requests.
    func measure() async throws -> Load {
        let request = RequestBytes.make("GET", "/bare")
        return try await Load.run(
            fleet, processes: [MeasuredProcess(id: process.processIdentifier)],
            requests: [[ByteBuffer]](
                repeating: [ByteBuffer](repeating: request, count: perConnection), count: 64),
            expecting: 200)
    }

    func stop() async {
        await fleet.close()
        process.terminate()
    }
}

/// Why a run was given up.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
