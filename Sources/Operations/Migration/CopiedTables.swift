import Database
import Synchronization

/// The tables of a store and of its copy: fills the copy from the store, and makes both equal.
struct CopiedTables: Sendable {
    let source: any Database
    let target: any Database
    /// The tables, each after the tables that it references.
    let shapes: [TableShape]
    let run: String
    /// Whether the source's tables were retired, so that nothing changes there any longer.
    var isPutAway: Bool
    let progress: CopyStore.Observer

    private func reader(_ shape: TableShape) -> TableReader {
        // The history of the schema keeps its name.
        TableReader(store: source, shape: shape, isPutAway: isPutAway && shape.name != "schema_migrations")
    }

    private func copied(_ shape: TableShape) -> TableReader {
        TableReader(store: target, shape: shape, isPutAway: false)
    }

    private func writer(_ shape: TableShape) -> TableWriter {
        TableWriter(target: target, shape: shape, run: run)
    }

    /// Counts the rows of a step.
    private final class Counter: Sendable {
        private let done = Atomic<Int64>(0)
        private let report: @Sendable (Int64) -> Void

        init(_ report: @escaping @Sendable (Int64) -> Void) { self.report = report }

        func add(_ rows: Int) { report(done.add(Int64(rows), ordering: .relaxed).newValue) }
    }

    private func counter(_ step: CopyStore.Step, of shapes: [TableShape], times: Int64) -> Counter {
        let all = max(1, shapes.reduce(0) { $0 + $1.estimatedRows } * times)
        let progress = progress
        return Counter { progress(step, min($0, all), all) }
    }

    /// Fills every table, from the position of the last run.
    func fill() async throws {
        let counter = counter(.copying, of: shapes, times: 1)
        for shape in shapes {
            let (reader, writer) = (reader(shape), writer(shape))
            let (key, isFilled) = try await writer.filled()
            guard !isFilled else {
                counter.add(Int(clamping: shape.estimatedRows))
                continue
            }
            var cursor = TableReader.Cursor(key: key)
            repeat {
                let page = try await reader.page(&cursor)
                try await writer.fill(page.map(\.values), through: cursor.key, isFilled: cursor.isAtEnd)
                counter.add(page.count)
            } while !cursor.isAtEnd
        }
    }

    /// Compares every table, repairs differences, and compares again.
    ///
    /// - Parameter rounds: the maximum number of comparisons.
    /// - Returns: the last result.
    func compare(rounds: Int) async throws -> [CopyStore.Comparison] {
        var found: [String: CopyStore.Comparison] = [:]
        var stale = shapes
        for round in 0...rounds {
            let counter = counter(.verifying, of: stale, times: 2)
            for shape in stale {
                // A retired table cannot have changed since it was read.
                let known = isPutAway ? found[shape.name]?.source : nil
                found[shape.name] = try await compare(shape, known: known, counter)
            }
            let differing = Set(found.values.filter { !$0.isEqual }.map(\.table))
            guard !differing.isEmpty, round < rounds else { break }
            try await repair(shapes.filter { differing.contains($0.name) })
            // Deleting a row may delete rows that reference it.
            var touched = differing
            for shape in shapes where !shape.references.isDisjoint(with: touched) { touched.insert(shape.name) }
            stale = shapes.filter { touched.contains($0.name) }
        }
        return shapes.compactMap { found[$0.name] }
    }

    /// Reads a table on both sides concurrently.
    private func compare(
        _ shape: TableShape, known: TableDigest?, _ counter: Counter
    ) async throws -> CopyStore.Comparison {
        let (reader, copied) = (reader(shape), copied(shape))
        let progress: @Sendable (Int) -> Void = { counter.add($0) }
        let digests = try await withThrowingTaskGroup(of: (Bool, TableDigest).self) { group in
            group.addTask {
                let digest = try await copied.digest(progress)
                return (true, digest)
            }
            if known == nil {
                group.addTask {
                    let digest = try await reader.digest(progress)
                    return (false, digest)
                }
            }
            var digests: [Bool: TableDigest] = [:]
            while let (isCopy, digest) = try await group.next() { digests[isCopy] = digest }
            return digests
        }
        return CopyStore.Comparison(
            table: shape.name, source: known ?? digests[false] ?? TableDigest(),
            target: digests[true] ?? TableDigest())
    }

    /// Makes tables of the copy equal to those of the source.
    private func repair(_ shapes: [TableShape]) async throws {
        let counter = counter(.comparing, of: shapes, times: 2)
        for shape in shapes.reversed() {
            try await remove(shape, changedToo: false, counter)
        }
        for shape in shapes {
            guard try await put(shape, isHalving: false, counter) > 0 else { continue }
            // Changed rows may conflict with other rows, so they are deleted and inserted again. Rows whose references
            // were added later are left for the next round. (A referenced row stays: in this schema such a row never
            // takes a unique value of another one.)
            try await remove(shape, changedToo: true, counter)
            _ = try await put(shape, isHalving: true, counter)
        }
    }

    /// Deletes rows of the copy that the source no longer has, or has with other values.
    private func remove(_ shape: TableShape, changedToo: Bool, _ counter: Counter) async throws {
        let (reader, copied, writer) = (reader(shape), copied(shape), writer(shape))
        var cursor = TableReader.Cursor()
        while !cursor.isAtEnd {
            let page = try await copied.page(&cursor)
            let present = try await reader.rows(page.map(\.key))
            let gone = page.filter { entry in
                guard let row = present[EncodedRow(entry.key)] else { return true }
                return changedToo && row != entry.encoded
            }
            try await writer.remove(gone.map(\.key))
            counter.add(page.count)
        }
    }

    /// Inserts rows that the copy lacks or has with other values. Returns how many could not be inserted.
    private func put(_ shape: TableShape, isHalving: Bool, _ counter: Counter) async throws -> Int {
        let (reader, copied, writer) = (reader(shape), copied(shape), writer(shape))
        var cursor = TableReader.Cursor()
        var left = 0
        while !cursor.isAtEnd {
            let page = try await reader.page(&cursor)
            let present = try await copied.rows(page.map(\.key))
            let different = page.filter { present[EncodedRow($0.key)] != $0.encoded }
            let held = try await writer.put(different.map(\.values), isHalving: isHalving)
            left += held
            counter.add(page.count)
        }
        return left
    }
}
