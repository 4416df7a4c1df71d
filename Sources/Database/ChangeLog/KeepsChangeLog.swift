/// A store that tells its readers what others changed: the change log, and what a process proves by it.
package protocol KeepsChangeLog: Sendable {
    /// The end of the change log: where a reader begins that remembers nothing yet.
    ///
    /// - Throws: `StoreError`.
    func changePosition() async throws -> ChangePosition

    /// What was committed after a position and not read yet, at most so many changes.
    ///
    /// - Throws: `StoreError`.
    func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading

    /// Lets go of changes that every one of these readers has read; of none where there is no reader.
    ///
    /// - Throws: `StoreError`.
    func purgeChanges(below positions: [ChangePosition]) async throws

    /// Whether another server wrote the log, as if a dump of it was restored here: its entries bear numbers that this
    /// server has yet to give out, and readers would wait behind them.
    ///
    /// - Throws: `StoreError`.
    func hasForeignChangeLog() async throws -> Bool

    /// Begins the log anew where another server wrote it. Readers of before forget what they remember; of several
    /// callers at once, one does it.
    ///
    /// - Returns: whether this call did.
    /// - Throws: `StoreError`.
    @discardableResult
    func adoptChangeLog() async throws -> Bool

    /// Commits something, and tells what; `nil` where every reading is as young as the store itself, as that of a file
    /// is. A server that another has replaced may go on answering readers, and it is by its own commits that a process
    /// knows better.
    ///
    /// - Throws: `StoreError`; then the commit proves nothing.
    func heartbeat() async throws -> Heartbeat?
}

extension KeepsChangeLog {
    /// A store without a change log.
    package func changePosition() async throws -> ChangePosition { throw StoreError.noChangeLog }

    /// A store without a change log.
    package func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading {
        throw StoreError.noChangeLog
    }

    /// A store without a change log.
    package func purgeChanges(below positions: [ChangePosition]) async throws { throw StoreError.noChangeLog }

    /// A file numbers its entries by itself, wherever it lies.
    package func hasForeignChangeLog() async throws -> Bool { false }

    /// Nothing is to be done for a file.
    @discardableResult
    package func adoptChangeLog() async throws -> Bool { false }

    /// A store that is one file, which has no other in its place.
    package func heartbeat() async throws -> Heartbeat? { nil }
}
