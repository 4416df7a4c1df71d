/// The failure of a store. No description contains a bound or read value.
package enum StoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The store cannot be reached, is busy for too long, full, broken or closed. Nothing was changed.
    case unavailable(reason: String)
    /// The store or its disk failed during a commit. Either all of it is kept or nothing.
    case outcomeUnknown(reason: String)
    /// The written values violate an invariant of the schema.
    case constraint(kind: Constraint)
    /// The statement or its arguments are wrong, which is a mistake in the program.
    case statement(reason: String)
    /// A column, counted from 0, does not have the expected type.
    case column(Int, expected: String)
    /// The migrations of this build and of the store do not match.
    case migration(MigrationConflict)
    /// The store was moved, or is an unfinished copy.
    case notUsable(StoreAvailability)
    /// The store's address names no engine of this build, or an unsuitable database.
    case url(reason: String)
}

package extension StoreError {
    /// The kinds of invariants of a schema.
    enum Constraint: String, Sendable {
        case unique
        case foreignKey
        case check
        case notNull
    }

    /// How the given and the applied migrations differ.
    enum MigrationConflict: Sendable, Equatable {
        /// The identifiers of the given migrations do not rise strictly from 1. The value is the first wrong one.
        case unordered(Int)
        /// An applied migration has another text in this build.
        case changed(Int)
        /// The store has a migration of a newer build after which this build cannot use it.
        case newer(Int)
        /// The store skipped this migration, or applied one that this build lacks.
        case diverged(Int)
    }

    /// Errors are equal if their kinds are: their sentences may be reworded.
    static func == (left: StoreError, right: StoreError) -> Bool {
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

    /// One sentence for a log or an operator.
    var description: String {
        switch self {
        case .unavailable(let reason): "the store is unavailable: \(reason)"
        case .outcomeUnknown(let reason): "the outcome of the change is unknown: \(reason)"
        case .constraint(let kind): "a \(kind.rawValue) constraint of the store is violated"
        case .statement(let reason): "a statement is wrong: \(reason)"
        case .column(let index, let expected): "column \(index) is not \(expected)"
        case .migration(.unordered(let identifier)):
            "migration \(identifier) is out of order: identifiers must rise strictly from 1"
        case .migration(.changed(let identifier)):
            "migration \(identifier) was applied to the store by a build that has another text of it: run that build, or "
                + "create a new store with this one"
        case .migration(.newer(let identifier)):
            "the store has migration \(identifier) of a newer build: run that build, or restore an older backup"
        case .migration(.diverged(let identifier)):
            "migration \(identifier) is not part of both the store's history and this build's: run the build that the "
                + "store belongs to"
        case .notUsable(.moved(let place)):
            "this store was moved to \(place): use it there; `countersign store reopen` puts this one back into use"
        case .notUsable(.unfinished(let place)):
            "this store is an unfinished copy of \(place): finish the copy"
        case .notUsable(.usable): "this store may be used"
        case .url(let reason): reason
        }
    }
}

extension StoreError {
    static var noChangeLog: StoreError { .statement(reason: "this kind of store has no change log") }
}

/// Whether a store is usable.
package enum StoreAvailability: Sendable, Equatable {
    case usable
    /// The store was moved to this address (without credentials).
    case moved(to: String)
    /// The store is an unfinished copy of another one.
    case unfinished(copyOf: String)
}
