import ArgumentParser
import Database
import Foundation
import Identity
import Operations
import Records

/// The store as an admin command opens it, and in whose name it acts.
struct Admin: Sendable {
    let store: any Database
    let actor: String
    let keysDirectory: String
    let surroundings = Surroundings()

    /// Opens and migrates the store of the settings, runs a body, closes the store.
    static func run<Result>(_ options: SharedOptions, _ body: (Admin) async throws -> Result) async throws -> Result {
        let settings = try await Settings.resolve(shared: options)
        let store = try settings.store.open(clock: { Date() })
        let admin = Admin(store: store, actor: "admin \(NSUserName())", keysDirectory: settings.keys)
        do {
            try await store.migrate(Schema.migrations)
            let result = try await body(admin)
            try await store.close()
            return result
        } catch {
            try? await store.close()
            if let refusal = error as? Refusal, refusal.code == .unavailable {
                throw CommandFailure(refusal.detail, exitCode: .storeUnavailable)
            }
            throw error
        }
    }

    var providers: AdministerProviders {
        AdministerProviders(store: store, surroundings: surroundings, actor: actor)
    }

    var sessions: AdministerSessions {
        AdministerSessions(store: store, surroundings: surroundings, actor: actor)
    }

    var outbox: AdministerOutbox {
        AdministerOutbox(store: store, surroundings: surroundings, actor: actor)
    }

    var providerKeys: ManageProviderKeys {
        ManageProviderKeys(store: store, watch: nil, surroundings: surroundings)
    }

    /// Commands that read or seal personal data need the keys it lies under.
    func users() throws -> AdministerUsers {
        AdministerUsers(
            store: store, keys: try KeyFiles.personal(in: keysDirectory), surroundings: surroundings, actor: actor)
    }

    func archive() throws -> ArchiveUsers {
        ArchiveUsers(
            store: store, keys: try KeyFiles.personal(in: keysDirectory), surroundings: surroundings, actor: actor)
    }

    func reviews() throws -> ReviewCards {
        ReviewCards(
            store: store, keys: try KeyFiles.personal(in: keysDirectory), surroundings: surroundings, actor: actor)
    }

    func banning(_ policy: BanPolicy) throws -> BanSubject {
        BanSubject(
            store: store, keys: try KeyFiles.personal(in: keysDirectory), policy: policy, surroundings: surroundings,
            actor: actor)
    }

    func lifting() throws -> LiftBan {
        LiftBan(
            store: store, keys: try KeyFiles.personal(in: keysDirectory), surroundings: surroundings, actor: actor)
    }

    func bans() throws -> AdministerBans {
        AdministerBans(
            store: store, keys: try KeyFiles.personal(in: keysDirectory), surroundings: surroundings, actor: actor)
    }

    var certificates: RevokeCertificate {
        RevokeCertificate(store: store, watch: nil, surroundings: surroundings)
    }
}

/// Reads a reason that an admin typed.
func auditReason(_ text: String, _ option: String = "--reason") throws(CommandFailure) -> AuditReason {
    guard let reason = AuditReason(text) else {
        throw CommandFailure(
            "\(option) takes a code or a ticket's number such as user_request or ticket:4711, without spaces and without "
                + "personal data: the audit log keeps it for ever.", exitCode: .usage)
    }
    return reason
}

/// Reads an identifier that an admin typed.
func identifier<Kind>(_ text: String, _ what: String) throws(CommandFailure) -> Identifier<Kind> {
    guard let id = Identifier<Kind>(text[...]) else {
        throw CommandFailure("\(text) is no \(what) id.", exitCode: .usage)
    }
    return id
}
