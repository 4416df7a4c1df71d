import AsyncHTTPClient
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The common part of the three samples: a command line, an HTTP client that trusts Countersign, and two listeners.
///
/// The device listener requires mutual TLS with a device certificate of Countersign, and a session's token. The plain
/// listener is on loopback only, for calls without a device.
package struct Sample: Sendable {
    let name: String
    package let options: Options
    let http: HTTPClient
    package let logger: Logger

    /// Countersign's public URL, which is the issuer of its tokens.
    var service: String { options["--service"] }

    /// A public document of Countersign.
    func fetch(_ path: String) async throws -> Data {
        do {
            let answer = try await http.execute(HTTPClientRequest(url: service + path), timeout: .seconds(5))
            if answer.status == .ok { return Data(try await answer.body.collect(upTo: 256 * 1024).readableBytesView) }
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Options.Failure(
                reason: "Countersign at \(service) cannot be reached. Start it, or correct --service and --ca.")
        }
        throw Options.Failure(reason: "\(service)\(path) is not a document of Countersign. Correct --service.")
    }
}

package extension Sample {
    /// Runs a sample until it is stopped. Exit code 2 is for a malformed command line, 1 for any other failure.
    ///
    /// - Parameters:
    ///   - defaults: the options of this sample with their default values.
    ///   - body: creates the sample's parts and serves, or executes a command.
    static func run(
        _ name: String, arguments: [String] = Array(CommandLine.arguments.dropFirst()), defaults: [String: String],
        _ body: @Sendable (Sample) async throws -> Void
    ) async {
        // Only its own account can read files that this process creates.
        umask(0o077)
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        let logger = Logger(label: name)
        do {
            let options = try Options(arguments: arguments, defaults: defaults)
            // `--ca` names the only authority that this backend trusts for Countersign's certificate.
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.minimumTLSVersion = .tlsv12
            if !options["--ca"].isEmpty { tls.trustRoots = .file(options["--ca"]) }
            var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
            configuration.timeout = .init(connect: .seconds(5), read: .seconds(5))
            // A caller that waits learns at once that no service listens there.
            configuration.connectionPool.retryConnectionEstablishment = false
            try await HTTPClient.withHTTPClient(configuration: configuration) { http in
                try await body(Sample(name: name, options: options, http: http, logger: logger))
            }
        } catch {
            let (reason, code): (String, Int32) =
                switch error {
                case let error as Options.Malformed: (error.reason, 2)
                case let error as Options.Failure: (error.reason, 1)
                case let error as HTTPError: (error.body ?? "\(error.status)", 1)
                default: ("\(error)", 1)
                }
            FileHandle.standardError.write(Data("\(name): \(reason)\n".utf8))
            exit(code)
        }
    }

    /// Serves both listeners until SIGTERM or SIGINT, and prints one line when both are up.
    ///
    /// - Parameters:
    ///   - plainSocket: decides on WebSockets of the plain listener.
    ///   - socket: decides on WebSockets of devices.
    func serve(
        plain: Router<SampleContext>, device: Router<SampleContext>, plainSocket: SocketAdmission? = nil,
        socket: SocketAdmission? = nil
    ) async throws {
        let tls = try await deviceTLS()
        let ports = Mutex<[String: Int]>([:])
        let announce: @Sendable (String, any Channel) -> Void = { kind, channel in
            let both = ports.withLock { ports -> [String: Int] in
                ports[kind] = channel.localAddress?.port
                return ports
            }
            guard let plain = both["plain"], let device = both["device"] else { return }
            let urls = #""plain":"http://127.0.0.1:\#(plain)","device":"https://127.0.0.1:\#(device)""#
            FileHandle.standardOutput.write(Data((#"{"ready":true,\#(urls)}"# + "\n").utf8))
        }
        let plainListener = Application(
            responder: logged(plain), server: .init { ListenerChannel(responder: $0, tls: nil, admit: plainSocket) },
            configuration: configuration(port: options.port("--plain-port")),
            onServerRunning: { announce("plain", $0) }, logger: logger)
        let deviceListener = Application(
            responder: logged(device), server: .init { ListenerChannel(responder: $0, tls: tls, admit: socket) },
            configuration: configuration(port: options.port("--device-port")),
            onServerRunning: { announce("device", $0) }, logger: logger)
        try await ServiceGroup(
            configuration: .init(
                services: [plainListener, deviceListener], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        ).run()
    }

    /// Options that every sample has.
    static let commonDefaults = [
        "--service": "https://127.0.0.1:8440", "--ca": "", "--plain-port": "0", "--device-port": "0",
        "--tls-certificate": "server.pem", "--tls-key": "server.key",
    ]

    private func configuration(port: Int) -> ApplicationConfiguration {
        ApplicationConfiguration(
            address: .hostname("127.0.0.1", port: port), serverName: name,
            availableConnectionsDelegate: MaximumAvailableConnections(8000))
    }

    /// The routes, with a line in the log for each error that becomes `500`.
    private func logged(_ router: Router<SampleContext>) -> CallbackResponder<SampleContext> {
        let routes = router.buildResponder()
        return CallbackResponder { request, context in
            do {
                return try await routes.respond(to: request, context: context)
            } catch let error where !(error is CancellationError) {
                let cause: Logger.MetadataValue = "\(error)"
                logger.error("\(request.method) \(request.uri.path) failed", metadata: ["error": cause])
                throw error
            }
        }
    }

    /// The server's own certificate, with Countersign's authority for devices as the only one for clients.
    private func deviceTLS() async throws -> NIOSSLContext {
        let authority = try await fetch("/certificates/authority")
        let (chain, key) = (try file("--tls-certificate"), try file("--tls-key"))
        var tls: TLSConfiguration
        do {
            tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(chain)).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key), format: .pem)))
        } catch {
            throw Options.Failure(
                reason: "--tls-certificate and --tls-key: the files are not a certificate and its key in PEM")
        }
        tls.minimumTLSVersion = .tlsv12
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority)))
        tls.certificateVerification = .noHostnameVerification
        return try NIOSSLContext(configuration: tls)
    }

    /// The contents of the file that an option names.
    func file(_ option: String) throws -> Data {
        do {
            return try Data(contentsOf: URL(filePath: options[option]))
        } catch {
            throw Options.Failure(
                reason: "\(option): \(options[option]) cannot be read. Check its name and its permissions.")
        }
    }
}
