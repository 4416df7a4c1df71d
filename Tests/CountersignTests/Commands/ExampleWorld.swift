import ArgumentParser
import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import countersign

/// An installation with the objects and files that examples name, as far as a store has them without a service.
struct ExampleWorld {
    private let installation: Installation
    let app: ApplicationID
    private let key: ProviderKeyID

    /// The recipient in the documentation of age.
    private static let recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"

    init() async throws {
        installation = try await Installation()
        var found: (ApplicationID, ProviderKeyID)?
        try await installation.within { store in
            found = try await store.write { transaction in
                let providers = ProviderRepository(transaction)
                let provider = try #require(try providers.list().first)
                _ = try UserRepository(transaction).findOrCreate(
                    providerID: provider.id, externalID: "ada", newID: UserID(UUID()), at: transaction.now)
                let app = try #require(try providers.listApplications(of: provider.id).first)
                let key = try #require(try ProviderKeyRepository(transaction).list(of: provider.id).first)
                return (app.id, key.id)
            }
        }
        (app, key) = try #require(found)
        for name in ["acme.pem", "acme-2027.pem"] {
            try installation.write(name, P256.Signing.PrivateKey().publicKey.pemRepresentation + "\n")
        }
        try installation.write("virginia.pem", PEM.encode(try WalletIssuer().root, label: "CERTIFICATE"))
    }

    /// How a command ends on the places of the installation: its report, or the error.
    func end(_ words: [String]) async -> Result<Report, any Error> {
        do {
            let parsed = try CommandLineWords.parse(words + installation.places)
            guard let command = parsed as? any ReportingCommand else { throw ExitCode(0) }
            return .success(try await command.report())
        } catch {
            return .failure(error)
        }
    }

    /// The example of a command with the objects of this world. It does not run on, and its places are the installation's.
    ///
    /// - Parameter options: the options that are left out with their values.
    func words(of command: EveryCommand, without options: [String] = []) -> [String] {
        Self.example(of: command, without: options).map { value($0, of: command) }
    }

    /// The example of a command as its help page has it, in the order of ``words(of:without:)``.
    static func example(of command: EveryCommand, without options: [String] = []) -> [String] {
        var words = (command.example ?? []).filter { !["--json", "--follow"].contains($0) }
        for option in options + ["keys", "policies"] {
            while let place = words.firstIndex(of: "--" + option) {
                words.removeSubrange(place..<min(place + 2, words.count))
            }
        }
        return words
    }

    private func value(_ word: String, of command: EveryCommand) -> String {
        if word == "acme" { return "test" }
        if word.hasPrefix("acme/") { return word.replacing("acme/", with: "test/") }
        // No example fails because time went by.
        if word == "2027-01-31" { return String(Date().addingTimeInterval(30 * 86_400).rfc3339.prefix(10)) }
        if word.hasPrefix("age1") { return Self.recipient }
        if word.wholeMatch(of: /[\w-]+\.(?:pem|p12|db|age|json)/) != nil { return installation.path(word) }
        guard word.wholeMatch(of: /[0-9a-f]{8,}/) != nil else { return word }
        if command.path.contains("attest") || command.path.contains("allow-app") { return app.description }
        return command.path.starts(with: ["provider", "key"]) ? key.description : word
    }
}
