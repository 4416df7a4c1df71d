import ArgumentParser
import Domain
import Encoding
import Foundation
import Operations

/// `countersign ban …`: bans of users, devices, numbers and documents.
struct BanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ban", abstract: "Ban users, telephone numbers, documents and devices, and lift bans.",
        subcommands: [Add.self, Lift.self, List.self, Show.self, History.self])

    struct Add: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ban a user, number, document or device.",
            discussion: """
                Sessions end and connections close within a second, on every node. A user's ban covers the user's \
                proven number (for as long as bans.yaml says) and, from the level issuer_checked on, the document. A \
                ban on a number or document affects every user who has proven it, and refuses users who prove it \
                later. Without --until, --for and --permanent a ban is permanent.
                If an active ban is at least as strict, the command names it and changes nothing. Add --replace to put \
                the new ban in its place, longer or shorter.
                """,
            example: "ban add --user acme/ada --reason spam --for 30d --dry-run")
        @OptionGroup var shared: SharedOptions
        @OptionGroup var subject: BanSubjectOptions
        @Option(help: "The reason that the banned user sees: one word, such as spam.") var reason: String
        @Option(help: "The finding; kept sealed, shown only to admins.") var note: String?
        @Option(help: "The end: 2027-01-31T12:00:00Z, or 2027-01-31 for its beginning in UTC.") var until: String?
        @Option(name: .customLong("for"), help: "The duration: 90s, 15m, 12h or 30d.") var duration: String?
        @Flag(help: "Ban without an end.") var permanent = false
        @Option(help: "all, or messaging: signing in stays allowed, authorizations are forbidden.") var scope = Ban
            .Scope.all
        @Flag(help: "Ban the user's devices too, which other people may share.") var withDevices = false
        @Flag(
            help: "Replace active bans on this subject that are at least as strict; this one may be longer or shorter.")
        var replace = false
        @Option(help: "The reason to ban at once, without a second administrator: a code or a ticket's number.")
        var emergency: String?
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @Flag(help: "Do not ask if more than one user is affected.") var yes = false

        func report(_ admin: Admin) async throws -> Report {
            let order = try await order(admin)
            // An invalid policy must not prevent an admin from banning.
            let policy = try? admin.policy().bans
            let note = policy == nil ? "The policies cannot be read; the defaults of bans.yaml are used." : nil
            do {
                let (ban, impact) =
                    try await dryRun
                    ? (nil, admin.administration.previewBan(order, by: policy ?? BanPolicy()))
                    : confirmed(order, by: policy ?? BanPolicy(), admin.administration)
                return BanCommand.report(ban, until: ban.map(\.endsAt) ?? order.endsAt, impact).noting(note)
            } catch let refusal as Refusal where refusal.state == Ban.State.active.rawValue {
                throw CommandFailure("\(refusal.detail) The flag for that is --replace.")
            }
        }

        /// Bans at most one user, unless the admin agrees to more.
        private func confirmed(
            _ order: BanOrder, by policy: BanPolicy, _ administration: Administration
        ) async throws -> (Ban?, BanImpact) {
            var agreed = yes ? nil : 1
            let urgency = try emergency.map { text throws(CommandFailure) in try auditReason(text, "--emergency") }
            while true {
                do {
                    return try await administration.addBan(order, by: policy, upTo: agreed, urgency: urgency)
                } catch let unconfirmed as Administration.UnconfirmedBan {
                    try Confirmation.ask("affect \(unconfirmed.users.counting("user"))")
                    agreed = unconfirmed.users
                }
            }
        }

        private func order(_ admin: Admin) async throws -> BanOrder {
            guard let reason = Ban.Reason(rawValue: reason.lowercased()) else {
                throw CommandFailure(
                    "--reason must be one word of at most 40 characters: A to Z, digits, _ and -.", exitCode: .usage)
            }
            let target = try await subject.required(admin)
            return try asUsage {
                try BanOrder(
                    target: target, scope: scope, reason: reason, note: note, endsAt: try end(now: Date()),
                    withDevices: withDevices, replaces: replace)
            }
        }

        private func end(now: Date) throws -> Date? {
            guard [until != nil, duration != nil, permanent].count(where: { $0 }) <= 1 else {
                throw CommandFailure("Give only one of --until, --for and --permanent.", exitCode: .usage)
            }
            if let duration {
                guard let seconds = PolicyField.seconds(duration), seconds >= 1, seconds <= 36_500 * 86_400 else {
                    throw CommandFailure(
                        "--for must be a time with its unit, such as 90s, 12h or 30d.", exitCode: .usage)
                }
                return now.addingTimeInterval(seconds)
            }
            guard let until else { return nil }
            return try futureMoment(until, "--until", now: now)
        }
    }

    struct Lift: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lift a ban, or all bans on a subject.",
            discussion: "Sessions stay ended: users sign in again.",
            example: "ban lift 4f1c9a3e --note \"appeal granted\"")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The ban's id or its beginning, unless a subject is named.") var ban: TypedID<Kind.Ban>?
        @OptionGroup var subject: BanSubjectOptions
        @Option(help: "The reason; kept sealed, shown only to admins.") var note: String
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @OptionGroup var unasked: UnaskedOption

        func report(_ admin: Admin) async throws -> Report {
            let target = try await subject.target(admin)
            guard (ban == nil) != (target == nil) else {
                throw CommandFailure("Give the id of a ban or one subject.", exitCode: .usage)
            }
            let administration = try admin.administration
            var lifted: [Ban] = []
            if let ban {
                let ban = try await admin.resolve(ban)
                lifted = [
                    try await dryRun ? administration.previewLift(of: ban) : administration.liftBan(ban, note: note)
                ]
            }
            if let target {
                lifted =
                    try await dryRun
                    ? administration.previewLift(on: target) : administration.liftBans(on: target, note: note)
            }
            let remaining = try await administration.remainingBans(after: lifted)
            return Report(
                lifted.map { "\($0.id) \(dryRun ? "would be" : "is") lifted." }
                    + remaining.map { "Still in force for the same person or thing: \(Self.line($0))." },
                json: [
                    .json("lifted", lifted.map(\.id)), .json("dry_run", dryRun),
                    .json("still_in_force", remaining.map(\.id)),
                ]
            ).noting(previewNote(dryRun))
        }

        private static func line(_ ban: Ban) -> String {
            "ban \(ban.id) on a \(ban.kind.rawValue), \(ban.scope.rawValue), \(ban.reason.rawValue), "
                + (ban.endsAt.map { "until \($0.rfc3339)" } ?? "permanent")
        }
    }
}

/// The subject of a ban.
struct BanSubjectOptions: ParsableArguments {
    @Option(help: "A user: the id, or <provider slug>/<external id>.") var user: String?
    @Option(help: "A telephone number in its international form.") var phone: String?
    @Option(help: "A document, ISSUER:NUMBER, such as VA:T64235789 or D:C01X00T47.") var document: String?
    @Option(help: "A device, by its id or the id's beginning.") var device: TypedID<Kind.Device>?

    /// The given subject; `nil` if there is none.
    ///
    /// - Throws: ``CommandFailure`` if there are several, or one is malformed.
    func target(_ admin: Admin) async throws -> BanTarget? {
        guard [user, phone, document, device?.text].compactMap(\.self).count <= 1 else {
            throw CommandFailure("Give only one of --user, --phone, --document and --device.", exitCode: .usage)
        }
        if let device { return .device(try await admin.resolve(device)) }
        return try asUsage {
            if let user { return .user(user) }
            if let phone { return try .phone(reading: phone) }
            if let document { return try .document(reading: document) }
            return nil
        }
    }

    func required(_ admin: Admin) async throws -> BanTarget {
        guard let target = try await target(admin) else { throw Self.notOne }
        return target
    }

    private static let notOne = CommandFailure(
        "Give one of --user, --phone, --document and --device.", exitCode: .usage)
}
