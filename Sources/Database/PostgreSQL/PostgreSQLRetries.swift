import Foundation

/// The rules by which a body is run again, and what came of it so far.
struct PostgreSQLRetries {
    /// How often a body is begun again after its connection was lost: the first may have been stale, the second is news.
    private static let maximumLosses = 2
    /// How often a change of the schema is begun again, which otherwise waits as long as it must.
    private static let maximumMeetings = 100

    private let kind: PostgreSQLTransaction.Kind
    private let timeouts: PostgreSQLTimeouts
    private var deadline: ContinuousClock.Instant?
    private var losses = 0
    private var conflicts = 0

    init(_ kind: PostgreSQLTransaction.Kind, _ timeouts: PostgreSQLTimeouts) {
        self.kind = kind
        self.timeouts = timeouts
    }

    /// The first attempt begins the time in which others may follow.
    mutating func begin() {
        if deadline == nil { deadline = .now + .seconds(timeouts.statement) }
    }

    /// How long to wait before the body is run again, in seconds.
    ///
    /// - Throws: the error to tell where it is not to be run again.
    mutating func pause(after failure: PostgreSQLFailure) throws(StoreError) -> TimeInterval {
        switch failure {
        case .conflict(let error):
            conflicts += 1
            // That something is there already is no mistake only where several make the schema at once.
            if case .statement = error, kind != .alter { throw error }
            let isInTime = deadline.map { ContinuousClock.now < $0 } ?? true
            guard kind == .alter ? conflicts < Self.maximumMeetings : isInTime else { throw error }
            // Chance keeps two writers from meeting again and again.
            return .random(in: 0...min(0.064, 0.001 * Double(1 << min(conflicts, 6))))
        case .lost(let error):
            losses += 1
            guard losses <= Self.maximumLosses else { throw error }
            return 0
        case .outcomeUnknown(let error), .refused(let error): throw error
        }
    }
}
