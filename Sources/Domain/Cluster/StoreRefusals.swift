/// Refusals of a node that cannot decide at the moment, and of copying a store.
package extension Refusal {
    static func storeMoved(_ privateDetail: String) -> Refusal {
        Refusal(
            .unavailable, "This node's store was moved to another place. Nothing was changed. Ask another node.",
            reason: .storeMoved, retryAfter: 5, privateDetail: privateDetail)
    }

    static func storeUnavailable(_ privateDetail: String) -> Refusal {
        Refusal(
            .unavailable, "The service cannot reach its store. Nothing was changed. Try again.", retryAfter: 1,
            privateDetail: privateDetail)
    }

    static func outcomeUnknown(_ privateDetail: String) -> Refusal {
        Refusal(
            .unavailable,
            "The store was lost during the change. Check whether the change was made before you try again.",
            reason: .outcomeUnknown, retryAfter: 1, privateDetail: privateDetail)
    }

    /// For a process that was suspended during a restore: the store no longer knows which nonces of its key were spent.
    static let storeRestored = Refusal(
        .unavailable, "The store was restored while this node ran. Nothing was changed. Ask another node.",
        retryAfter: 5)

    static func staleView(age: Double) -> Refusal {
        Refusal(
            .unavailable, "This node's view of the store is too old for a decision. Nothing was changed. Try again.",
            retryAfter: 1, privateDetail: "the last proof of being current was \(age) s ago")
    }

    static func wrongClock(difference: Double) -> Refusal {
        Refusal(
            .unavailable,
            "This node's clock differs too much from the store's. Nothing was changed. Ask another node.",
            retryAfter: 5, privateDetail: "the clock is \(difference) s ahead of the store's")
    }

    static let tooManyChanges = Refusal(
        .unavailable, "Too much is changing at this moment. Nothing was changed. Try again.", retryAfter: 1)

    static let copyTakenOver = Refusal(
        .conflict, "Another run of this copy has taken over. Stop one of the two runs.")

    /// - Parameter nodes: host and last heartbeat of each node.
    static func nodesLive(_ nodes: [String]) -> Refusal {
        Refusal(
            .conflict, "Nodes serve this store (\(nodes.joined(separator: "; "))). Stop them first.", reason: .nodesLive
        )
    }

    static let moveOfOlderBuild = Refusal(
        .conflict, "An older build began this move. Finish it with that build.")

    static func schemaOutdated(_ source: String) -> Refusal {
        Refusal(.conflict, "\(source) does not have this build's schema. Migrate it first.")
    }

    static func copyTargetNotEmpty(_ target: String) -> Refusal {
        Refusal(.conflict, "\(target) already has tables. Copy the store into an empty one.")
    }

    static func copyOfAnotherStore(_ target: String) -> Refusal {
        Refusal(.conflict, "\(target) is a copy of another store. Copy the store into an empty one.")
    }

    static func movedElsewhere(_ source: String, to place: String) -> Refusal {
        Refusal(.conflict, "\(source) was moved to \(place). Use the store there.")
    }

    static func copyTargetInUse(_ target: String) -> Refusal {
        Refusal(.conflict, "\(target) is already in use. Copy the store into an empty one.")
    }

    static func tableDiffers(_ table: String) -> Refusal {
        Refusal(.conflict, "The table \(table) differs between the two stores. Copy with the source's build.")
    }

    static let unknownTables = Refusal(
        .conflict, "The source has tables that this build does not know. Copy with the source's build.")

    static func sourceInUseAgain(_ source: String) -> Refusal {
        Refusal(.conflict, "\(source) was taken into use again, so its copy is outdated. Copy it again.")
    }
}
