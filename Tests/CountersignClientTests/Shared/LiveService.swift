import CountersignClient
import Domain
import Encoding
import Fixtures
import Foundation
import Tokens

#if canImport(Glibc)
    import Glibc
#endif

/// The service's binary, running, with a provider whose backend is the test.
final class LiveService: Sendable {
    nonisolated(unsafe) let running: RunningService
    /// The provider's id.
    let provider: String
    private let issuer: ProviderID
    private let key: ProviderKeyID
    private let signer: ProviderSigner
    let publicURL: URL
    let clientURL: URL
    let authority: String
    let pins: [SPKIPin]
    private let scratch: ScratchDirectory

    /// What the test expected of its surroundings and did not find.
    struct Missing: Error { let what: String }

    /// - Parameters:
    ///   - policies: files that replace the repository's, by name.
    ///   - store: the address of an empty store in place of a file of its own.
    init(policies: [String: String] = [:], store: String? = nil) async throws {
        // The service is killed and started again: its ports stay.
        var started: RunningService?
        if store == nil {
            // Somebody else may take a port between its choice and the start.
            for _ in 0..<2 where started == nil {
                started = try? await RunningService(policies: policies, arguments: try Self.freePorts())
            }
        }
        if started == nil {
            started = try await RunningService(policies: policies, arguments: try Self.freePorts(), store: store)
        }
        guard let started else { throw Missing(what: "a service") }
        running = started
        scratch = try ScratchDirectory()
        signer = try ProviderSigner(.es256)
        let added = try await running.countersign([
            "provider", "add", "--name", "Devices", "--slug", "devices", "--key",
            try scratch.write(signer.publicKeyPEM, "provider.pem"), "--json",
        ])
        let row = try StrictJSON.parse(Array(added.output.utf8))
        guard let provider = row["provider_id"]?.text.flatMap({ ProviderID($0) }),
            let key = row["key_id"]?.text.flatMap({ ProviderKeyID($0) }),
            let publicURL = URL(string: running.publicURL), let clientURL = URL(string: running.clientURL)
        else { throw Missing(what: added.errors) }
        (self.provider, issuer, self.key) = (provider.description, provider, key)
        (self.publicURL, self.clientURL) = (publicURL, clientURL)
        authority = try String(contentsOf: running.path("Keys/ca.pem"), encoding: .utf8)
        let ca = running.path("Keys/ca.pem").path
        let found = try await Command.run("curl", ["-s", "--cacert", ca, running.publicURL + "/"])
        guard case .array(let texts)? = try StrictJSON.parse(Array(found.output.utf8))["server_key_pins_sha256"] else {
            throw Missing(what: "pins in \(found.output)")
        }
        pins = texts.compactMap { $0.text.flatMap { SPKIPin($0) } }
    }

    /// Another node on the same store, with ports of its own that stay, and what an app would name to reach it.
    func anotherNode() throws -> (node: RunningService, service: Service) {
        // What is named first counts.
        let node = try RunningService(besides: running, ports: try Self.freePorts())
        guard let open = URL(string: node.publicURL), let mutual = URL(string: node.clientURL) else {
            throw Missing(what: "another node")
        }
        return (node, Service(publicURL: open, clientURL: mutual, pins: [], roots: .pem(authority)))
    }

    private static func freePorts() throws -> [String] {
        ["--public", "127.0.0.1:\(try FreePort.next())", "--client", "127.0.0.1:\(try FreePort.next())"]
    }

    /// What an app would have compiled in.
    func service(pins: [SPKIPin]? = nil, roots: Service.Roots? = nil) -> Service {
        Service(publicURL: publicURL, clientURL: clientURL, pins: pins ?? self.pins, roots: roots ?? .pem(authority))
    }

    /// The provider's backend: an identity token of a user.
    func identityToken(_ user: String, _ nonce: String, at now: Date = Date()) throws -> String {
        try signer.identityToken(provider: issuer, kid: key, externalID: user, nonce: nonce, now: now)
    }

    /// The same as a closure that counts how often it is asked.
    func source(_ user: String, _ count: Counter = Counter()) -> Countersign.IdentityTokenSource {
        { nonce in
            count.add()
            return try self.identityToken(user, nonce.value)
        }
    }

    /// The code in the last text to a number.
    func code(textedTo number: String) async throws -> String {
        for _ in 0..<2400 {
            let lines = (try? String(contentsOf: running.path("texts.jsonl"), encoding: .utf8))?.split(separator: "\n")
            for line in (lines ?? []).reversed() {
                guard let value = try? StrictJSON.parse(Array(line.utf8)), value["to"]?.text == number,
                    let code = value["text"]?.text?.split(separator: "#").last
                else { continue }
                return String(code)
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Missing(what: "a text to \(number)")
    }

    /// The provider's backend notifies a user.
    func notify(_ user: String, _ id: UUID, _ members: [String: Any]) async throws {
        let token = try signer.providerToken(
            provider: issuer, kid: key, realm: "localhost", now: Date())
        let body = try JSONSerialization.data(withJSONObject: members.merging(["id": id.uuidString]) { $1 })
        let done = try await Command.run(
            "curl",
            [
                "-s", "--fail-with-body", "--cacert", running.path("Keys/ca.pem").path, "-H",
                "Authorization: Bearer \(token)", "-H", "Content-Type: application/json", "-d",
                String(decoding: body, as: UTF8.self),
                "\(publicURL.absoluteString)/provider/users/\(user)/notifications",
            ])
        guard done.status == 0 else { throw Missing(what: done.output + done.errors) }
    }

    /// Starts the service again with an invented issuer of licences, for wallets that this origin calls.
    func enableWallets(for origin: String) async throws {
        try await admin("sample", "wallet", "issuer")
        try await admin("provider", "origin", "add", "devices", origin)
        try "enabled: true\n".write(to: running.path("Policies/wallet.yaml"), atomically: true, encoding: .utf8)
        running.kill()
        try running.start()
    }

    /// What an invented wallet answers.
    func walletAnswer(to requests: [WalletRequest], from origin: String) async throws -> WalletResponse {
        let list = requests.map { ["protocol": $0.name, "data": $0.data] as [String: Any] }
        let body = try JSONSerialization.data(withJSONObject: ["requests": list])
        let file = try scratch.write(String(decoding: body, as: UTF8.self), "\(UUID().uuidString).json")
        let done = try await running.countersign(["sample", "wallet", "answer", file, "--origin", origin])
        let answer = try? StrictJSON.parse(Array(done.output.utf8))
        guard let name = answer?["protocol"]?.text, let response = answer?["data"]?["response"]?.text else {
            throw Missing(what: done.errors)
        }
        return WalletResponse(name: name, response: response)
    }

    /// Runs an admin command, and expects it to succeed.
    func admin(_ arguments: String...) async throws {
        let done = try await running.countersign(arguments)
        guard done.status == 0 else { throw Missing(what: done.errors) }
    }
}
