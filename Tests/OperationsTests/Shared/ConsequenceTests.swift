import Domain
import Fixtures
import Foundation
import Operations
import Testing

/// One row for each operation that changes something: all that follows from it.
@Suite("Everything that follows from an operation")
struct ConsequenceTests {
    /// Carries the operation out on a node.
    typealias Act = @Sendable (ConsequenceWorld.Node) async throws -> Void

    struct Row: Sendable, CustomTestStringConvertible {
        /// The operation's method, or its file and type.
        let operation: String
        /// Whether an admin's command does it, which shares nothing with a node but the store.
        let isAdministration: Bool
        let written: ConsequenceWorld.Written
        let here: [NodeEffect]
        let there: [NodeEffect]
        /// Makes what the operation needs.
        let prepare: @Sendable (ConsequenceWorld) async throws -> Act

        var testDescription: String { operation }

        /// An operation of a serving node.
        ///
        /// - Parameters:
        ///   - here: what it does to its own node.
        ///   - there: what another node does once it has read the change log; by default the same where there is a notice,
        ///     with a look at the outbox.
        static func service(
            _ operation: String, audit: [String] = [], notices: [String] = [], queued: [String] = [],
            here: [NodeEffect] = [], there: [NodeEffect]? = nil,
            _ prepare: @escaping @Sendable (ConsequenceWorld) async throws -> Act
        ) -> Row {
            let effects = there ?? (notices.isEmpty ? [] : Set(here).union([.wakesOutbox]).sorted())
            return Row(
                operation: operation, isAdministration: false,
                written: .init(audit: audit.sorted(), notices: notices.sorted(), queued: queued.sorted()),
                here: here.sorted(), there: effects.sorted(), prepare: prepare)
        }

        /// An admin's operation: both nodes read of it in the change log.
        static func admin(
            _ operation: String, audit: [String], notices: [String] = [], queued: [String] = [],
            effects: [NodeEffect] = [], _ prepare: @escaping @Sendable (ConsequenceWorld) async throws -> Act
        ) -> Row {
            let all = notices.isEmpty ? [] : Set(effects).union([.wakesOutbox]).sorted()
            return Row(
                operation: operation, isAdministration: true,
                written: .init(audit: audit.sorted(), notices: notices.sorted(), queued: queued.sorted()),
                here: all, there: all, prepare: prepare)
        }
    }

    static let rows: [Row] = [
        sessionRows, revocationRows, certificateRows, providerRows, userRows, banRows, proofRows, messageRows,
        streamRows,
        messageStreamRows, addressRows, appRows, walletRows, administratorRows, reviewRows, attestationRows,
    ].flatMap { $0 }

    @Test("is written with it, and reaches its own node and another one", arguments: rows)
    func consequences(row: Row) async throws {
        var policy = Policy()
        policy.phones.pushApplications = [AuthorizationBench.application]
        policy.phones.breakerSends = 4
        policy.wallet.enabled = true
        policy.phones.breakerVerifiedPercent = 22
        try await ServiceFixture.run(policy) { fixture in
            let world = try await ConsequenceWorld(fixture)
            let act = try await row.prepare(world)
            for node in [world.first, world.second] { try await node.warm(world.token, world.alice.session) }
            let (_, mark) = try await world.written()
            try await act(world.first)
            #expect(try await world.written(since: mark).0 == row.written)
            if row.isAdministration { try await world.first.context.invalidator.poll() }
            #expect(world.first.effects() == row.here)
            try await world.second.context.invalidator.poll()
            #expect(world.second.effects() == row.there)
            for (node, effects) in [(world.first, row.here), (world.second, row.there)]
            where effects.contains(.dropsSession) {
                #expect(await node.wasWoken(), "A call that waits in the session does not notice its end.")
            }
        }
    }

    /// The places in a file that commit something: for each the operations that reach it, as rows name them. A type is
    /// named by its file, and a method by its name.
    private static func commits(_ file: SourceFile) -> [Set<String>] {
        // What the others commit by.
        let ways = [
            "Service", "SessionHolder", "SignIn", "MessageStreamAccess", "RunMaintenanceTask", "FormerNames",
            "PersonalLook",
        ]
        guard !ways.contains(where: { file.name == "\($0).swift" }) else { return [] }
        guard !file.text.contains(/let context: (?:Service|Admin)/) else {
            let commits =
                file.text.contains(/\bcontext\.(?:commit|write|maintain)\b/)
                || file.text.contains(/\b(?:store|context)\.act\(/)
            return commits ? [[String(file.name.dropLast(".swift".count))]] : []
        }
        guard file.text.contains(/\n(?:package )?extension (?:Service|Administration) \{/) else { return [] }
        let methods = file.methods
        let isCommit =
            /\b(?:write|maintain|signIn|act)\b(?: \{|\(inTurn|\(for|\(on|\(spending|\(\.|\(\n)|\bread\(\s*lookingFor:/
        return methods.filter { $0.text.contains(isCommit) }.map { site in
            var reaching: Set<String> = [site.name]
            for _ in methods {
                reaching.formUnion(
                    methods.filter { method in reaching.contains { method.text.contains("\($0)(") } }.map(\.name))
            }
            let operations = methods.filter { $0.isPackage && reaching.contains($0.name) }.map(\.name)
            return Set(operations.map { $0.prefix(1).uppercased() + $0.dropFirst() })
        }
    }

    @Test("is in the table of this test for every operation that commits")
    func complete() throws {
        let commits = try SourceFile.all(below: "Sources/Operations").flatMap(Self.commits)
        let rows = Set(Self.rows.map(\.operation))
        #expect(commits.count > 40)
        #expect(commits.filter { $0.isDisjoint(with: rows) } == [])
        #expect(rows.subtracting(commits.joined()).sorted() == [])
    }
}
