import ArgumentParser
import Domain
import Encoding
import Operations
import Tokens

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "List, add, retire and revoke a provider's keys.",
        subcommands: [List.self, Add.self, Retire.self, Revoke.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List all keys of a provider, ended ones too, with the key that added each.",
            example: "provider key list acme")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String

        func report(_ admin: Admin) async throws -> Report {
            let keys = try await admin.administration.readProvider(provider).keys
            return Report(keys, KeyCommand.fields)
        }
    }

    struct Add: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a key to a provider.",
            example: "provider key add acme --key acme-2027.pem")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The provider's slug or id.") var provider: String
        @Option(help: "The file of the public key, PEM or JWK.") var key: String
        @Option(help: "The key's algorithm; by its type by default.") var alg: SignatureAlgorithm?

        func report(_ admin: Admin) async throws -> Report {
            let verificationKey = try ProviderCommand.readKey(key, algorithm: alg)
            let found = try await admin.administration.readProvider(provider).provider
            let id = try await admin.administration.addProviderKey(verificationKey, to: found.id)
            return Report([Entry("key_id", "key_id", id)])
        }
    }

    struct Retire: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Retire a key: it opens no new sessions, and its existing sessions continue.",
            example: "provider key retire b81d02fa")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The key's id or its beginning.") var key: TypedID<Kind.ProviderKey>
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @OptionGroup var unasked: UnaskedOption

        func report(_ admin: Admin) async throws -> Report {
            let key = try await admin.resolve(key)
            let admin = try admin.administration
            let leavesNoKey = try await dryRun ? admin.previewRetirement(of: key) : admin.retireProviderKey(key)
            return Report(
                ["\(key) \(dryRun ? "would be" : "is") retired."]
                    + KeyCommand.warning(ifTrue: leavesNoKey, isPreview: dryRun),
                json: [
                    .json("retired", dryRun ? nil : key), .json("dry_run", dryRun),
                    .json("leaves_no_key", leavesNoKey),
                ]
            ).noting(previewNote(dryRun))
        }
    }

    struct Revoke: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a key and the keys that it added: nothing that they signed is accepted.",
            discussion: """
                It asks first if sessions end or the provider has no usable key left. In scripts add --yes.
                """,
            example: "provider key revoke b81d02fa --end-sessions --dry-run")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The key's id or its beginning.") var key: TypedID<Kind.ProviderKey>
        @Flag(help: "End every session that these keys opened or renewed.") var endSessions = false
        @Flag(help: "Do not revoke the keys that this key added. Use it if the key was replaced, not leaked.")
        var keepAdded = false
        @Option(help: "A new file for the users and sessions that the keys signed in, a JSON object a line.")
        var affected: String?
        @OptionGroup var why: ReasonOption
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @Flag(help: "Do not ask.") var yes = false

        func report(_ admin: Admin) async throws -> Report {
            let reason = try why.parsed()
            let key = try await admin.resolve(key)
            // Opened before the revocation, so that a wrong path is reported before anything changes.
            let list = try affected.map { path throws(CommandFailure) in try AffectedFile(path: path) }
            do {
                return try await revoke(key, admin.administration, reason, list)
            } catch {
                list?.discard()
                throw error
            }
        }

        private func revoke(
            _ key: ProviderKeyID, _ admin: Administration, _ reason: AuditReason?, _ list: AffectedFile?
        ) async throws -> Report {
            var done = try await admin.previewRevocation(
                of: key, endingSessions: endSessions, keepingAdded: keepAdded)
            if !dryRun {
                if !yes, let effect = Self.effect(of: done) { try Confirmation.ask(effect) }
                done = try await admin.revokeProviderKey(
                    key, endingSessions: endSessions, keepingAdded: keepAdded, reason: reason)
            }
            let written: AffectedFile.Written?
            do {
                written = try await list?.write(done.keys, by: admin)
            } catch {
                throw CommandFailure(
                    "\(dryRun ? "" : "\(key) is revoked, but ")the list cannot be written: \(ErrorWords.of(error)). "
                        + "Repeat the command with another file.")
            }
            let ended = done.sessionsEnded ?? CountedSessions()
            var lines = done.keys.dropFirst().map {
                "\($0) was added through it and \(dryRun ? "would be" : "is") revoked too."
            }
            lines.append(
                dryRun
                    ? "\(key) would be revoked; \(ended.sessions) would end."
                    : "\(key) is revoked; \(ended.sessions) ended.")
            lines += KeyCommand.warning(ifTrue: done.leavesNoKey, isPreview: dryRun)
            var entries: [Entry] = [
                .json("revoked", dryRun ? nil : key), .json("dry_run", dryRun),
                .json("revoked_with_it", Array(done.keys.dropFirst())),
            ]
            entries += ended.entries + [.json("leaves_no_key", done.leavesNoKey)]
            if let written {
                lines.append(
                    "\(written.path) has \(written.sessions.counting("session")) of \(written.users.counting("user")).")
                entries += [
                    .json("users_affected", written.users), .json("sessions_affected", written.sessions),
                ]
            }
            return Report(lines, json: entries).noting(previewNote(dryRun))
        }

        /// The effect that must be confirmed; `nil` if the revocation ends no session and leaves a usable key.
        private static func effect(of preview: ProviderKeyRevocation) -> String? {
            let ended = preview.sessionsEnded ?? CountedSessions()
            let effects = [
                ended.count > 0 ? "end \(ended.sessions)" : nil,
                preview.leavesNoKey ? "leave the provider without a usable key" : nil,
            ].compactMap(\.self)
            return effects.isEmpty ? nil : effects.joined(separator: " and ")
        }
    }

    private static func warning(ifTrue leavesNoKey: Bool, isPreview: Bool) -> [String] {
        leavesNoKey ? ["The provider \(isPreview ? "would have" : "has") no usable key left."] : []
    }

    static func state(_ key: ProviderKeyRecord) -> String {
        key.revokedAt != nil ? "revoked" : key.retiredAt != nil ? "retired" : "active"
    }

    static var fields: [Field<ProviderKeyRecord>] {
        [
            Field("key_id", column: "KEY") { $0.id }, Field("alg", column: "ALG") { $0.algorithm },
            .json("added_by") { $0.origin.rawValue },
            .people(column: "ADDED BY") { $0.addedBy?.description ?? $0.origin.rawValue },
            .jsonIfPresent("issuer_kid") { $0.issuerKeyID }, .json("added_by_key") { $0.addedBy },
            Field("created_at", column: "CREATED") { $0.createdAt }, .json("retired_at") { $0.retiredAt },
            .json("revoked_at") { $0.revokedAt }, Field("state", column: "STATE", state),
        ]
    }
}
