/// Why the store did not do what it was asked. No description holds a value that was bound or read.
package enum StoreError: Error, Sendable {
    /// The store cannot be reached, is busy for too long, full, broken or closed; nothing was changed.
    case unavailable(reason: String)
    /// The store or its disk failed while a commit was under way: either all of it is kept or nothing.
    case outcomeUnknown(reason: String)
    /// What was to be written breaks an invariant of the schema.
    case constraint(kind: Constraint)
    /// The statement or its arguments are wrong: a mistake in the program.
    case statement(reason: String)
    /// A column, counted from 0, is not what the program takes it for.
    case column(Int, expected: String)
    /// The migrations of this build and those that the store has seen do not belong together.
    case migration(MigrationConflict)
    /// The store was moved to another place, or is no whole copy of another one yet.
    case notUsable(StoreAvailability)
    /// The store's address names no engine of this build, or a database that cannot be a store.
    case url(reason: String)

    /// The kinds of invariant that a schema holds.
    package enum Constraint: String, Sendable {
        /// `PRIMARY KEY` or `UNIQUE`.
        case unique
        /// `REFERENCES`.
        case foreignKey
        /// `CHECK`.
        case check
        /// `NOT NULL`.
        case notNull
    }

    /// How the migrations given and those applied differ.
    package enum MigrationConflict: Sendable, Equatable {
        /// The migrations given are not in strictly rising order from 1 on; the identifier is the first that is not.
        case unordered(Int)
        /// An applied migration reads differently in this build.
        case changed(Int)
        /// The store has a migration that is newer than all of this build's.
        case newer(Int)
        /// The store has gone past this migration without applying it, or applied one that this build lacks.
        case diverged(Int)
    }
}

extension StoreError {
    static var noChangeLog: StoreError { .statement(reason: "this kind of store has no change log") }
}

extension StoreError: Equatable {
    /// Two errors are the same when their kind is: sentences may be reworded.
    package static func == (left: StoreError, right: StoreError) -> Bool {
        switch (left, right) {
        case (.unavailable, .unavailable), (.outcomeUnknown, .outcomeUnknown), (.statement, .statement), (.url, .url):
            true
        case (.constraint(let left), .constraint(let right)): left == right
        case (.column(let left, _), .column(let right, _)): left == right
        case (.migration(let left), .migration(let right)): left == right
        case (.notUsable(let left), .notUsable(let right)): left == right
        default: false
        }
    }
}

extension StoreError: CustomStringConvertible {
    /// One sentence for a log or an operator.
    package var description: String {
        switch self {
        case .unavailable(let reason): "the store is unavailable: \(reason)"
        case .outcomeUnknown(let reason): "whether the change was made is not known: \(reason)"
        case .constraint(let kind): "a \(kind.rawValue) constraint of the store does not hold"
        case .statement(let reason): "a statement is wrong: \(reason)"
        case .column(let index, let expected): "column \(index) is not \(expected)"
        case .migration(.unordered(let identifier)):
            "migration \(identifier) is out of order: identifiers rise strictly, from 1 on"
        case .migration(.changed(let identifier)):
            "migration \(identifier) was applied in another wording: restore its text and add a new migration instead"
        case .migration(.newer(let identifier)):
            "the store has migration \(identifier) of a newer build: run that build, or restore a backup made before it"
        case .migration(.diverged(let identifier)):
            "migration \(identifier) is not part of both the store's history and this build's: run the build that the "
                + "store belongs to"
        case .notUsable(.moved(let place)):
            "this store was moved to \(place): use it there; `countersign store reopen` takes this one into use again"
        case .notUsable(.unfinished(let place)):
            "this store is not yet a complete copy of \(place): finish the copy"
        case .notUsable(.usable): "this store may be used"
        case .url(let reason): reason
        }
    }
}

/// Whether a store may be worked with.
package enum StoreAvailability: Sendable, Equatable {
    case usable
    /// What it held lives in another store now, whose place is told without credentials.
    case moved(to: String)
    /// It is to become a copy of another store, and is not one yet.
    case unfinished(copyOf: String)
}
