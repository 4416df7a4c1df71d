import AsyncHTTPClient
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOSSL

/// A provider: the backend of an app, which authenticates its own users and signs identity tokens for them.
///
/// Read it in this order:
///
/// 1. ``TokenSigner``: the one addition to a backend, a signature around Countersign's nonce.
/// 2. ``Routes``: the requests of the app to this backend.
/// 3. ``CountersignService``: the requests of this backend to Countersign about its own users.
/// 4. ``SignalReceiver``: Countersign's Shared Signals events about its users.
/// 5. ``Accounts``: user names and passwords, which never leave this process. You have these already.
///
/// It listens on loopback without TLS, because it is an example. Passwords cross this listener, so a real backend
/// serves it over HTTPS, or has a proxy on the same machine do so.
@main
struct SampleProvider {
    static func main() async {
        // Only its own account can read files that this process creates, such as the users file.
        umask(0o077)
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.contains("--help") || arguments.contains("-h") {
            FileHandle.standardOutput.write(Data(Options.help.utf8))
            return
        }
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        let logger = Logger(label: "sample-provider")
        do {
            try await run(Options(arguments: arguments), logger: logger)
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
            Registration.self, from: Data(contentsOf: URL(filePath: options["--registration"])))
        let signer = try TokenSigner(
            registration: registration, privateKeyPEM: String(contentsOfFile: options["--key"], encoding: .utf8))
        let accounts = try Accounts(file: options["--users"].isEmpty ? nil : URL(filePath: options["--users"]))

        // `--ca` names the only authority that this backend trusts for Countersign's certificate.
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if !options["--ca"].isEmpty { tls.trustRoots = .file(options["--ca"]) }

        try await HTTPClient.withHTTPClient(configuration: .init(tlsConfiguration: tls)) { http in
            let service = CountersignService(baseURL: options["--service"], http: http, signer: signer)
            let application = Application(
                router: Routes(
                    accounts: accounts, service: service, signer: signer,
                    signals: SignalReceiver(service: service, providerID: registration.providerID)
                ).router(),
                configuration: .init(
                    address: .hostname("127.0.0.1", port: options.port), serverName: "sample-provider"),
                onServerRunning: { channel in
                    let port = channel.localAddress?.port ?? options.port
                    let ready = #"{"ready":true,"url":"http://127.0.0.1:\#(port)"}"# + "\n"
                    FileHandle.standardOutput.write(Data(ready.utf8))
                    do {
                        let slug = try await service.registeredSlug()
                        logger.info("registered at Countersign as \(slug)")
                    } catch {
                        logger.warning("Countersign does not accept this provider yet: \(error)")
                    }
                },
                logger: logger)
            try await application.runService()  // until SIGTERM or SIGINT
        }
    }
}

/// The output of `countersign provider add --json` when this provider's public key was registered.
struct Registration: Decodable {
    let providerID: String
    let keyID: String

    enum CodingKeys: String, CodingKey {
        case providerID = "provider_id"
        case keyID = "key_id"
    }
}

/// The command line: pairs of a name and a value.
struct Options {
    /// Why the command line is invalid.
    struct Malformed: Error { let reason: String }

    private static let known: [(name: String, preset: String, help: String)] = [
        ("--port", "8450", "The port on 127.0.0.1; 0 for any free one."),
        ("--service", "https://127.0.0.1:8440", "The URL of Countersign's public listener."),
        ("--ca", "", "The file of the authorities to trust for it; the system's by default."),
        ("--key", "provider.key", "The file of this provider's private key, PEM."),
        ("--registration", "provider.json", "The file with the output of `countersign provider add --json`."),
        ("--users", "", "The file of the accounts; in memory only by default."),
    ]

    /// The text of `--help`: each option with its default.
    static let help =
        "Runs the backend of an example app, which signs its users in at Countersign.\n\n"
        + "Usage: sample-provider [OPTION VALUE]…\n\n"
        + known.map { option in
            let preset = option.preset.isEmpty ? "" : " (default \(option.preset))"
            return "  \(option.name.padding(toLength: 16, withPad: " ", startingAt: 0))\(option.help)\(preset)\n"
        }.joined()

    private var values = Dictionary(uniqueKeysWithValues: known.map { ($0.name, $0.preset) })

    init(arguments: [String]) throws {
        for index in stride(from: 0, to: arguments.count, by: 2) {
            guard values[arguments[index]] != nil else {
                throw Malformed(reason: "The option \(arguments[index]) is unknown. See `sample-provider --help`.")
            }
            guard index + 1 < arguments.count else {
                throw Malformed(reason: "\(arguments[index]) has no value. See `sample-provider --help`.")
            }
            values[arguments[index]] = arguments[index + 1]
        }
        guard UInt16(self["--port"]) != nil else { throw Malformed(reason: "--port is not a port number") }
    }

    subscript(name: String) -> String { values[name] ?? "" }
    var port: Int { Int(self["--port"]) ?? 0 }
}
