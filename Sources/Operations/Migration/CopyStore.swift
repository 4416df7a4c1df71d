import Database
import Domain
import Foundation
import Repositories

/// Moves the content of a store into another one, of the same or another engine, while the first is in use.
///
/// Each table is filled page by page, and the progress is stored in the copy, in the page's transaction: the next run
/// continues a run that died. Changes during the copy are found by comparing both sides. The last run first retires the
/// source's tables, so that no process can write there, and ends when the digests of all tables are equal.
package struct CopyStore: Sendable {
    /// The maximum number of comparisons: one while the source is in use. Later ones are only necessary if changed rows
    /// conflict with each other.
    private static let rounds = (inUse: 1, last: 4)

    private let source: any Database
    private let target: any Database
    private let places: (source: String, target: String)
    private let migrations: [Migration]
    private let environment: Environment
    private let actor: String

    /// - Parameters:
    ///   - places: the address of the other store that each store records, without credentials.
    ///   - actor: the person who moves the store, for the audit log.
    package init(
        source: any Database, target: any Database, places: (source: String, target: String),
        migrations: [Migration] = Schema.migrations, environment: Environment, actor: String
    ) {
        self.source = source
        self.target = target
        self.places = places
        self.migrations = migrations
        self.environment = environment
        self.actor = actor
    }

    /// Returns if a run may still write to the copy.
    static func requireTurn(_ run: String, in transaction: any Transaction) throws {
        guard let mark = try transaction.copyMark(.target), mark.run == run, mark.state == .open else {
            throw Refusal.copyTakenOver
        }
    }
}

package extension CopyStore {
    /// The digests of a table on both sides.
    struct Comparison: Sendable, Equatable {
        package let table: String
        package let source: TableDigest
        package let target: TableDigest
        /// Whether both sides have the same rows.
        package var isEqual: Bool { source == target }
    }

    struct Report: Sendable, Equatable {
        /// Every table, each after the tables that it references; empty if the move was already complete.
        package var tables: [Comparison] = []
        /// Whether the copy is in use now.
        package var isFinished = false
        /// Whether all tables are equal.
        package var isEqual: Bool { tables.allSatisfy(\.isEqual) }
    }

    /// The current step, for display.
    enum Step: String, Sendable {
        case copying = "copying rows"
        case comparing = "comparing rows"
        case verifying = "verifying rows"
    }

    /// Called with the number of rows that a step has processed, and the approximate number of all rows.
    typealias Observer = @Sendable (Step, Int64, Int64) -> Void

    /// Copies, continues a copy or finishes it.
    ///
    /// - Parameters:
    ///   - isFinal: whether to retire the source's tables and put the copy into use.
    ///   - cutsNodes: whether nodes that serve the source may be stopped by that.
    /// - Throws: `Refusal` `conflict` if the two stores do not belong together, with the reason `nodes_live` if nodes
    ///   serve the source; `unavailable`, or a `StoreError`.
    func callAsFunction(
        isFinal: Bool, cutsNodes: Bool = false, progress: @escaping Observer = { _, _, _ in }
    ) async throws -> Report {
        let begun = try await begin(isFinal: isFinal, cutsNodes: cutsNodes)
        if begun.isFinished { return Report(isFinished: true) }
        let shapes = try await shapes(isPutAway: begun.isPutAway)
        var tables = CopiedTables(
            source: source, target: target, shapes: shapes, run: begun.mark.run, isPutAway: begun.isPutAway,
            progress: progress)
        try await tables.fill()
        guard isFinal || begun.isPutAway else {
            return Report(tables: try await tables.compare(rounds: Self.rounds.inUse))
        }
        if !begun.isPutAway {
            // As much as possible is done while the source is in use.
            _ = try await tables.compare(rounds: Self.rounds.inUse)
            try await retire(begun.mark, cutsNodes: cutsNodes)
            tables.isPutAway = true
        }
        let comparisons = try await tables.compare(rounds: Self.rounds.last)
        guard comparisons.allSatisfy(\.isEqual) else { return Report(tables: comparisons) }
        try await finish(begun.mark)
        return Report(tables: comparisons, isFinished: true)
    }

    /// A node that serves the source would continue for a moment with its caches, and lose what it writes then.
    private static func requireNoNodes(in transaction: any Transaction) throws {
        let nodes = try ClusterMemberRepository(transaction).live()
        guard !nodes.isEmpty else { return }
        let names = nodes.map { node in
            "\(node.host), seen \(Int(max(0, transaction.now.timeIntervalSince(node.seenAt)))) s ago"
        }
        throw Refusal.nodesLive(names)
    }

    private struct Begun {
        let mark: CopyMark
        let isPutAway: Bool
        let isFinished: Bool
    }

    /// Checks that the two stores belong together, and takes over the copy for this run.
    private func begin(isFinal: Bool, cutsNodes: Bool) async throws -> Begun {
        var source = try await self.source.copyMarks().source
        let isPutAway = source?.state == .moved
        if isPutAway {
            guard try await self.source.pendingMigrations(of: migrations, acceptsNewer: false).isEmpty else {
                throw Refusal.moveOfOlderBuild
            }
        } else {
            try await self.source.requireUsable()
            guard try await self.source.pendingMigrations(of: migrations, acceptsNewer: false).isEmpty else {
                throw Refusal.schemaOutdated(places.source)
            }
            // Checked again later. Nothing was written so far.
            if isFinal, !cutsNodes { try await self.source.read { try Self.requireNoNodes(in: $0) } }
        }
        let held = try await target.tables().map(\.name)
        var mark = try await target.copyMarks().target
        guard held.isEmpty || mark != nil else {
            throw Refusal.copyTargetNotEmpty(places.target)
        }
        if source == nil, mark == nil { source = try await identify() }
        guard let source, mark == nil || mark?.copy == source.copy else {
            throw Refusal.copyOfAnotherStore(places.target)
        }
        guard !isPutAway || mark?.target == source.target else {
            throw Refusal.movedElsewhere(places.source, to: source.peer)
        }
        if let mark, mark.state == .finished {
            guard isPutAway else {
                throw Refusal.copyTargetInUse(places.target)
            }
            return Begun(mark: mark, isPutAway: true, isFinished: true)
        }
        let run = Identifier<CopyStore>(environment.newUUID()).description
        let taken = CopyMark(
            copy: source.copy, target: mark?.target ?? run, peer: places.source, state: .open, run: run)
        mark = taken
        try await target.alter { transaction in
            try transaction.createCopyMarks()
            try transaction.setCopyMark(taken, .target)
        }
        try await target.migrate(migrations, isUnfinished: true, acceptsNewer: false)
        return Begun(mark: taken, isPutAway: isPutAway, isFinished: false)
    }

    /// Gives the source an identity, which its copy records.
    private func identify() async throws -> CopyMark {
        let id = Identifier<CopyStore>(environment.newUUID()).description
        return try await source.alter { transaction in
            try transaction.createCopyMarks()
            if let mark = try transaction.copyMark(.source) { return mark }
            let mark = CopyMark(copy: id, target: "", peer: "", state: .open, run: "")
            try transaction.setCopyMark(mark, .source)
            return mark
        }
    }

    /// The tables, if both sides have the same ones.
    private func shapes(isPutAway: Bool) async throws -> [TableShape] {
        let copied = try await target.tables().filter { !CopyMark.owns(table: $0.name) }
        let present = try await source.tables()
        for shape in copied {
            let name = isPutAway ? CopyMark.retire(shape.name) : shape.name
            let other = present.first { $0.name == name || $0.name == shape.name }
            guard let other, Set(other.columns) == Set(shape.columns), other.key == shape.key, !shape.key.isEmpty else {
                throw Refusal.tableDiffers(shape.name)
            }
        }
        guard present.count(where: { !CopyMark.owns(table: $0.name) }) == copied.count else {
            throw Refusal.unknownTables
        }
        // The row counts are the source's, because a new copy has none. The nodes of the source are irrelevant to the
        // copy.
        return copied.filter { $0.name != ClusterMemberRepository.table }.map { shape in
            let name = isPutAway ? CopyMark.retire(shape.name) : shape.name
            let rows = present.first { $0.name == name }?.estimatedRows ?? 0
            return TableShape(
                name: shape.name, columns: shape.columns, key: shape.key, references: shape.references,
                estimatedRows: rows)
        }
    }

    /// Retires the source's tables, for every process at once. The last write to the source is its audit entry about
    /// the move, which is then copied.
    private func retire(_ mark: CopyMark, cutsNodes: Bool) async throws {
        let (actor, detail, id) = (actor, "from \(places.source) to \(places.target)", environment.newUUID())
        let moved = CopyMark(copy: mark.copy, target: mark.target, peer: places.target, state: .moved, run: "")
        try await source.retire(moved) { transaction in
            if !cutsNodes { try Self.requireNoNodes(in: transaction) }
            // Its readers then find out why, and end.
            try transaction.renewChangeLog()
            try AuditRepository(transaction).append(
                .storeMoved, subject: .store, actor: actor, detail: detail, id: id)
        }
    }

    /// Puts the copy into use, unless the source was reopened meanwhile.
    private func finish(_ mark: CopyMark) async throws {
        guard try await source.copyMarks().source?.target == mark.target else {
            throw Refusal.sourceInUseAgain(places.source)
        }
        var finished = mark
        finished.state = .finished
        try await target.alter { [finished] transaction in
            try Self.requireTurn(finished.run, in: transaction)
            try transaction.setCopyMark(finished, .target)
            try transaction.execute("DROP TABLE store_copy_tables")
        }
    }
}
