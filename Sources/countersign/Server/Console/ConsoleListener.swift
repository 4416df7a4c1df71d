import API
import Console
import Domain
import Foundation

/// The parts of the administrators' console that live as long as the process.
struct ConsoleListener: Sendable {
    let address: ListenAddress
    let tls: ListenerTLS
    /// The open connections of administrators.
    let connections = ConnectionTable()
    let history = FigureHistory()
    /// The authorities whose certificates the listener accepts.
    let authorities: AdministratorAuthorities

    /// `nil` if the console is off.
    ///
    /// - Parameters:
    ///   - chain: the server's certificates in PEM.
    ///   - key: the server's key in PEM.
    /// - Throws: `CommandFailure` that names the file, if there is no authority of administrators.
    init?(_ settings: Settings, chain: [UInt8], key: [UInt8]) throws {
        guard let address = settings.consoleAddress else { return nil }
        self.address = address
        let file = KeyFiles.file(.adminAuthorityCertificate, in: settings.keys)
        guard file.exists else {
            throw CommandFailure(
                "\(file.path) is missing: add the first administrator with "
                    + "`countersign admin add NAME --role security --out NAME.p12`, or start without --console.")
        }
        authorities = try AdministratorAuthorities(in: settings.keys)
        // `admin add` makes a root: the TLS library verifies chains.
        tls = try ListenerTLS(
            chainPEM: chain, keyPEM: key,
            clients: .init(
                authorities: authorities.chains, areRoots: true, isTLS13Only: true, speaksHerald: false))
    }
}
