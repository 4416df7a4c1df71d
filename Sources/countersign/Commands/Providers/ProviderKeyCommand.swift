import ArgumentParser
import Domain
import Encoding
import Operations
import Tokens

/// `countersign provider key …`.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Lists, adds, retires and revokes a provider's keys.",
        subcommands: [List.self, Add.self, Retire.self, Revoke.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists all keys of a provider, ended ones too, with the key that added each.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String

        func run() async throws {
            let (_, _, keys) = try await Admin.run(shared) { try await ReadProviders($0.context)(provider) }
            if shared.json {
                Output.json(.array(keys.map(KeyCommand.json)))
            } else {
                Output.table(
                    [["KEY", "ALG", "ADDED BY", "CREATED", "STATE"]]
                        + keys.map {
                            [
                                $0.id.description, $0.algorithm, $0.addedBy?.description ?? $0.origin.rawValue,
                                $0.createdAt.rfc3339, KeyCommand.state($0),
                            ]
                        })
            }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Adds a key to a provider.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String
        @Option(help: "The file of the public key, PEM or JWK.") var key: String
        @Option(help: "RS256, PS256, ES256, ES384 or EdDSA; by the key's type by default.") var alg: String?

        func run() async throws {
            let verificationKey = try ProviderCommand.readKey(key, algorithm: alg)
            let id = try await Admin.run(shared) { admin in
                let (found, _, _) = try await ReadProviders(admin.context)(provider)
                return try await AddProviderKey(admin.context)(verificationKey, to: found.id)
            }
            if shared.json {
                Output.json(.object(["key_id": .string(id.description)]))
            } else {
                Output.table([["key_id", id.description]])
            }
        }
    }

    struct Retire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Retires a key: it opens nothing new, and its sessions continue.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The key's id.") var key: String
        @Flag(help: "Preview only; change nothing.") var dryRun = false

        func run() async throws {
            let id: ProviderKeyID = try identifier(key, "key")
            let leavesNoKey = try await Admin.run(shared) { admin in
                let retire = RetireProviderKey(admin.context)
                return try await dryRun ? retire.preview(id) : retire(id)
            }
            if shared.json {
                return Output.json(
                    .object([
                        "retired": dryRun ? .null : .string(key), "dry_run": .bool(dryRun),
                        "leaves_no_key": .bool(leavesNoKey),
                    ]))
            }
            Output.table([["\(key) \(dryRun ? "would be" : "is") retired."]])
            if leavesNoKey { Output.table([["The provider \(dryRun ? "would have" : "has") no usable key left."]]) }
            if dryRun { Output.note("Nothing was changed.") }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revokes a key and the keys that it added: nothing from them is accepted.",
            discussion: "It asks first if sessions end or the provider has no usable key left. Scripts give --yes.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The key's id.") var key: String
        @Flag(help: "End every session that these keys opened or renewed.") var endSessions = false
        @Flag(help: "Keep the keys that it added: for a replaced key that nobody else had.")
        var keepAdded = false
        @Option(help: "Why: a code or a ticket's number, kept in the audit log.") var reason: String?
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @Flag(help: "Do not ask.") var yes = false

        func run() async throws {
            let id: ProviderKeyID = try identifier(key, "key")
            let reason = try reason.map { text throws(CommandFailure) in try auditReason(text) }
            let done = try await Admin.run(shared) { admin in
                let revoke = RevokeProviderKey(admin.context)
                let foreseen = try await revoke.preview(id, endingSessions: endSessions, keepingAdded: keepAdded)
                if dryRun { return foreseen }
                if !yes, let effect = Self.effect(of: foreseen) { try Confirmation.ask(effect) }
                return try await revoke(id, endingSessions: endSessions, keepingAdded: keepAdded, reason: reason)
            }
            if shared.json { showJSON(done) } else { show(done) }
        }

        /// What has to be confirmed; `nil` if the revocation ends no session and leaves a usable key.
        private static func effect(of foreseen: ProviderKeyRevocation) -> String? {
            let ended = foreseen.sessionsEnded ?? CountedSessions()
            let effects = [
                ended.count > 0 ? "end \(ended.text) sessions" : nil,
                foreseen.leavesNoKey ? "leave the provider without a usable key" : nil,
            ].compactMap(\.self)
            return effects.isEmpty ? nil : effects.joined(separator: " and ")
        }

        private func showJSON(_ done: ProviderKeyRevocation) {
            Output.json(
                .object([
                    "revoked": dryRun ? .null : .string(key), "dry_run": .bool(dryRun),
                    "revoked_with_it": .array(done.keys.dropFirst().map { .string($0.description) }),
                    "sessions_ended": (done.sessionsEnded ?? CountedSessions()).json,
                    "leaves_no_key": .bool(done.leavesNoKey),
                ]))
        }

        private func show(_ done: ProviderKeyRevocation) {
            let ended = (done.sessionsEnded ?? CountedSessions()).text
            var lines = done.keys.dropFirst().map {
                "\($0) was added by way of it and \(dryRun ? "would be" : "is") revoked, too."
            }
            lines.append(
                dryRun
                    ? "\(key) would be revoked; \(ended) sessions would end."
                    : "\(key) is revoked; \(ended) sessions ended.")
            if done.leavesNoKey {
                lines.append("The provider \(dryRun ? "would have" : "has") no usable key left.")
            }
            Output.table(lines.map { [$0] })
            if dryRun { Output.note("Nothing was changed.") }
        }
    }

    static func state(_ key: ProviderKeyRecord) -> String {
        key.revokedAt != nil ? "revoked" : key.retiredAt != nil ? "retired" : "active"
    }

    static func json(_ key: ProviderKeyRecord) -> JSONValue {
        .object([
            "key_id": .string(key.id.description), "alg": .string(key.algorithm),
            "added_by": .string(key.origin.rawValue), "issuer_kid": key.issuerKeyID.map { .string($0) },
            "added_by_key": key.addedBy.map { .string($0.description) } ?? .null,
            "created_at": .string(key.createdAt.rfc3339),
            "retired_at": key.retiredAt.map { .string($0.rfc3339) } ?? .null,
            "revoked_at": key.revokedAt.map { .string($0.rfc3339) } ?? .null, "state": .string(state(key)),
        ])
    }
}
