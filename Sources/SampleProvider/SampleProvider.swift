import AsyncHTTPClient
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOSSL

/// A provider: the backend of an app, that knows its own users and vouches for them at Countersign.
///
/// Read it in this order:
///
/// 1. ``TokenSigner``: the one thing a backend has to add, a signature around Countersign's nonce.
/// 2. ``Routes``: what the app asks of this backend.
/// 3. ``CountersignService``: what this backend may ask of Countersign about its own users.
/// 4. ``Accounts``: user names and passwords, which never leave this process. Yours exist already.
///
/// It listens on loopback without TLS, because it is an example. Passwords cross this listener: a real backend
/// serves it over HTTPS, or has a proxy on the same machine do so.
@main
struct SampleProvider {
    static func main() async {
        // Whatever this process writes (the users file) is for its own account alone.
        umask(0o077)
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        let logger = Logger(label: "sample-provider")
        do {
            try await run(Options(arguments: CommandLine.arguments.dropFirst()), logger: logger)
        } catch let error as Options.Malformed {
            logger.error("\(error.reason)")
            exit(2)
        } catch {
            logger.error("\(error)")
            exit(1)
        }
    }

    static func run(_ options: Options, logger: Logger) async throws {
        let registration = try JSONDecoder().decode(
            Registration.self, from: Data(contentsOf: URL(filePath: options.registration)))
        let signer = try TokenSigner(
            registration: registration, privateKeyPEM: String(contentsOfFile: options.key, encoding: .utf8))
        let accounts = try Accounts(file: options.users.map { URL(filePath: $0) })

        // `--ca` names the only authority that this backend trusts for Countersign's certificate.
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let authority = options.authority { tls.trustRoots = .file(authority) }

        try await HTTPClient.withHTTPClient(configuration: .init(tlsConfiguration: tls)) { http in
            let service = CountersignService(baseURL: options.service, http: http, signer: signer)
            let application = Application(
                router: Routes(accounts: accounts, service: service, signer: signer).router(),
                configuration: .init(address: .hostname("127.0.0.1", port: options.port), serverName: "sample-provider"),
                onServerRunning: { channel in
                    let port = channel.localAddress?.port ?? options.port
                    let ready = #"{"ready":true,"url":"http://127.0.0.1:\#(port)"}"# + "\n"
                    FileHandle.standardOutput.write(Data(ready.utf8))
                    do {
                        let slug = try await service.registeredSlug()
                        logger.info("registered at \(options.service) as \(slug)")
                    } catch {
                        logger.warning("not answered as a provider by \(options.service): \(error)")
                    }
                },
                logger: logger)
            try await application.runService()  // until SIGTERM or SIGINT
        }
    }
}

/// What `countersign provider add --json` printed when this provider's public key was registered.
struct Registration: Decodable {
    let providerID: String
    let keyID: String

    enum CodingKeys: String, CodingKey {
        case providerID = "provider_id"
        case keyID = "key_id"
    }
}

/// The command line.
struct Options {
    var port = 8450
    var service = "https://127.0.0.1:8440"
    var authority: String?
    var key = "provider.key"
    var registration = "provider.json"
    var users: String?

    /// Why the command line cannot be followed.
    struct Malformed: Error { let reason: String }

    init(arguments: some Sequence<String>) throws {
        var remaining = arguments.makeIterator()
        while let name = remaining.next() {
            guard let value = remaining.next() else { throw Malformed(reason: "\(name) needs a value") }
            switch name {
            case "--port":
                guard let port = UInt16(value) else { throw Malformed(reason: "\(value) is no port") }
                self.port = Int(port)
            case "--service": service = value
            case "--ca": authority = value
            case "--key": key = value
            case "--registration": registration = value
            case "--users": users = value
            default:
                throw Malformed(
                    reason: """
                        \(name) is unknown; use --port N --service URL --ca FILE --key FILE --registration FILE \
                        [--users FILE]
                        """)
            }
        }
    }
}
