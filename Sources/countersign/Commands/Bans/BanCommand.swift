import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations
import PhoneNumbers

/// `countersign ban …`: bans of users, devices, numbers and documents.
struct BanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ban", abstract: "Bans users, telephone numbers, documents and devices, and lifts bans.",
        subcommands: [Add.self, Lift.self, List.self, Show.self, History.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bans. Sessions end and connections close within a second, on every node.",
            discussion: """
                A user's ban covers the user's proven number (for as long as bans.yaml says) and, from the level \
                issuer_checked on, the document. A ban on a number or document affects every user who has proven it, \
                and refuses anyone who proves it later. Without --until, --for and --permanent a ban is permanent.
                If a ban in force forbids as much already, it is named and nothing is changed: --replace puts this one \
                in its place, longer or shorter.
                """)
        @OptionGroup var shared: SharedOptions
        @OptionGroup var subject: BanSubjectOptions
        @Option(help: "The reason that the banned user sees: one word, such as spam.") var reason: String
        @Option(help: "What was found; kept sealed, shown to admins alone.") var note: String?
        @Option(help: "Until when: 2027-01-31T12:00:00Z, or 2027-01-31 for its beginning in UTC.") var until: String?
        @Option(name: .customLong("for"), help: "For how long: 90s, 15m, 12h or 30d.") var duration: String?
        @Flag(help: "For good.") var permanent = false
        @Option(help: "all, or messaging: signing in stays allowed, authorizations are forbidden.") var scope = "all"
        @Flag(help: "Ban the user's devices too, which other people may share.") var withDevices = false
        @Flag(help: "Lift the bans on it that are in force, as far as this one forbids no more, and ban anew.")
        var replace = false
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @Flag(help: "Do not ask if more than one user is affected.") var yes = false

        func run() async throws {
            let order = try order()
            let policy = BanCommand.policyOrDefaults(shared)
            do {
                let (ban, impact) = try await Admin.run(shared) { try await apply(order, policy, $0) }
                BanCommand.report(ban, impact, json: shared.json)
            } catch let refusal as Refusal where refusal.state == Ban.State.active.rawValue {
                throw CommandFailure("\(refusal.detail) Lift it, or add --replace to put this ban in its place.")
            }
        }

        private func apply(_ order: BanOrder, _ policy: BanPolicy, _ admin: Admin) async throws -> (Ban?, BanImpact) {
            let bans = try AddBan(admin.context, keys: admin.personalKeys(), policy: policy)
            guard !dryRun else { return (nil, try await bans.preview(order)) }
            guard !yes else { return try await bans(order, upTo: nil) }
            let count = try await bans.preview(order).users.count
            if count > 1 { try Confirmation.ask("affect \(count) users") }
            return try await bans(order, upTo: max(count, 1))
        }

        private func order() throws -> BanOrder {
            guard let reason = Ban.Reason(rawValue: reason.lowercased()) else {
                throw CommandFailure(
                    "--reason is one word of at most 40 letters, digits, _ and -.", exitCode: .usage)
            }
            guard let scope = Ban.Scope(rawValue: scope) else {
                throw CommandFailure("--scope is all or messaging.", exitCode: .usage)
            }
            let target = try subject.required()
            return try BanCommand.asUsage {
                try BanOrder(
                    target: target, scope: scope, reason: reason, note: note, endsAt: try end(now: Date()),
                    withDevices: withDevices, replaces: replace)
            }
        }

        private func end(now: Date) throws -> Date? {
            guard [until != nil, duration != nil, permanent].count(where: { $0 }) <= 1 else {
                throw CommandFailure("Give one of --until, --for and --permanent.", exitCode: .usage)
            }
            if let duration {
                guard let seconds = PolicyField.seconds(duration), seconds >= 1, seconds <= 36_500 * 86_400 else {
                    throw CommandFailure("--for takes a time such as 12h or 30d.", exitCode: .usage)
                }
                return now.addingTimeInterval(seconds)
            }
            guard let until else { return nil }
            guard let end = CalendarDate(until)?.start ?? (try? Date(until, strategy: .iso8601)) else {
                throw CommandFailure("--until takes a time such as 2027-01-31T12:00:00Z.", exitCode: .usage)
            }
            guard end > now else { throw CommandFailure("--until is in the past.", exitCode: .usage) }
            return end
        }
    }

    struct Lift: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lifts a ban, or all bans on a subject. Sessions stay ended: users sign in again.")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The ban's id; or name the subject.") var ban: String?
        @OptionGroup var subject: BanSubjectOptions
        @Option(help: "Why; kept sealed, shown to admins alone.") var note: String
        @Flag(help: "Preview only; change nothing.") var dryRun = false

        func run() async throws {
            let target = try subject.target()
            let id: BanID? = try ban.map { text throws(CommandFailure) in try identifier(text, "ban") }
            guard (id == nil) != (target == nil) else {
                throw CommandFailure("Give the id of a ban or one subject.", exitCode: .usage)
            }
            let (lifted, remaining) = try await Admin.run(shared) { admin in
                let lift = try LiftBan(admin.context, keys: admin.personalKeys())
                var lifted: [Ban] = []
                if let id { lifted = [try await dryRun ? lift.preview(id) : lift(id, note: note)] }
                if let target { lifted = try await dryRun ? lift.preview(target) : lift(target, note: note) }
                return (lifted, try await ListRemainingBans(admin.context)(after: lifted))
            }
            if shared.json {
                return Output.json(
                    .object([
                        "lifted": .array(lifted.map { .string($0.id.description) }), "dry_run": .bool(dryRun),
                        "still_in_force": .array(remaining.map { .string($0.id.description) }),
                    ]))
            }
            Output.table(
                lifted.map { ["\($0.id) \(dryRun ? "would be" : "is") lifted."] }
                    + remaining.map { ["Still in force for the same person or thing: \(Self.line($0))."] })
            if dryRun { Output.note("Nothing was changed.") }
        }

        private static func line(_ ban: Ban) -> String {
            "ban \(ban.id) on a \(ban.kind.rawValue), \(ban.scope.rawValue), \(ban.reason.rawValue), "
                + (ban.endsAt.map { "until \($0.rfc3339)" } ?? "permanent")
        }
    }

    /// The policy on disk. A wrong policy must not keep an admin from banning: then the defaults apply, with a note.
    static func policyOrDefaults(_ shared: SharedOptions) -> BanPolicy {
        do {
            let settings = try Settings.resolve(shared: shared)
            return try PolicyFiles.load(directory: settings.policies, required: settings.policiesNamed).bans
        } catch {
            Output.note("The policies cannot be read; the defaults of bans.yaml are used.")
            return BanPolicy()
        }
    }

    /// Turns errors of the body into usage errors, with their exit code.
    static func asUsage<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let refusal as Refusal where refusal.code == .malformedRequest {
            throw CommandFailure(refusal.detail, exitCode: .usage)
        }
    }
}

/// The subject of a ban.
struct BanSubjectOptions: ParsableArguments {
    @Option(help: "A user: the id, or <provider slug>/<external id>.") var user: String?
    @Option(help: "A telephone number in its international form.") var phone: String?
    @Option(help: "A document, JURISDICTION:NUMBER, such as VA:T64235789.") var document: String?
    @Option(help: "A device, by its id.") var device: String?

    /// The given subject; `nil` if there is none.
    ///
    /// - Throws: ``CommandFailure`` if there are several, or one is malformed.
    func target() throws -> BanTarget? {
        guard [user, phone, document, device].count(where: { $0 != nil }) <= 1 else {
            throw CommandFailure("Give one of --user, --phone, --document and --device.", exitCode: .usage)
        }
        return try BanCommand.asUsage {
            if let user { return .user(user) }
            if let phone { return .phone(try PhoneNumber(fromCaller: phone)) }
            if let document { return try .document(reading: document) }
            return try device.map { .device(try identifier($0, "device")) }
        }
    }

    func required() throws -> BanTarget {
        guard let target = try target() else {
            throw CommandFailure("Give one of --user, --phone, --document and --device.", exitCode: .usage)
        }
        return target
    }
}
