/// Decides which actions a user may take in a stream of some kind and state.
package struct MessageStreamRule: Sendable, Equatable {
    let kind: MessageStream.Kind
    let isDeleted: Bool
    let membership: Membership
    let isCreator: Bool
    let isBanned: Bool
    let hasLevel: Bool
    let partner: Partner

    package init(
        kind: MessageStream.Kind, isDeleted: Bool, membership: Membership, isCreator: Bool, isBanned: Bool,
        hasLevel: Bool, partner: Partner
    ) {
        self.kind = kind
        self.isDeleted = isDeleted
        self.membership = membership
        self.isCreator = isCreator
        self.isBanned = isBanned
        self.hasLevel = hasLevel
        self.partner = partner
    }
}

package extension MessageStreamRule {
    /// An action on an existing stream. Opening a stream is decided like ``Action/append``.
    enum Action: String, Sendable, CaseIterable {
        case append
        case read
        /// Setting receipts or the user's private metadata.
        case acknowledge
        case addMember
        case removeMember
        case leave
        case changeMetadata
        case deleteOwnMessage
        case deleteOthersMessage
        /// Deleting a message for the user only.
        case deleteCopy
        case deleteStream
    }

    enum Membership: String, Sendable, CaseIterable {
        case never
        case former
        case current
    }

    /// Whether the other user of a direct stream may receive messages. It has no effect in other streams.
    enum Partner: String, Sendable, CaseIterable {
        /// Their authorization is approved, and the other user's level is high enough.
        case permitted
        /// They have no approved authorization, or no longer have one.
        case notPermitted
        /// Their authorization is approved, but the other user's level is too low.
        case notVerified
    }

    enum Verdict: String, Sendable, CaseIterable {
        case allowed
        /// To this user the stream or message does not exist.
        case unknown
        /// A ban forbids messaging to the user.
        case banned
        /// The user's level is too low.
        case levelTooLow
        case partnerNotVerified
        /// The two users have no approved authorization.
        case closed
        /// The user was removed, and later messages are not visible.
        case left
        /// Streams of this kind do not support the action.
        case fixed
    }

    /// The decision. Users who are not members learn neither that a stream exists, nor its state.
    func verdict(on action: Action) -> Verdict {
        if isDeleted || (kind != .forum && membership == .never) { return .unknown }
        if kind != .forum, membership == .former {
            return action == .read || action == .deleteCopy ? .allowed : .left
        }
        switch (kind, action) {
        case (.direct, .addMember), (.direct, .removeMember), (.direct, .leave), (.call, .addMember),
            (.call, .removeMember), (.call, .leave):
            return .fixed
        case (.forum, .addMember), (.forum, .removeMember), (.forum, .leave), (.forum, .acknowledge),
            (.forum, .deleteCopy):
            return .fixed
        case (.direct, .append), (.direct, .changeMetadata), (.call, .append), (.call, .changeMetadata):
            return writing ?? permission(isWriting: true)
        case (.direct, .read), (.direct, .acknowledge), (.call, .read), (.call, .acknowledge):
            return permission(isWriting: false)
        case (.conversation, .append), (.conversation, .changeMetadata), (.conversation, .addMember),
            (.conversation, .removeMember), (.forum, .append):
            return writing ?? .allowed
        case (.forum, .changeMetadata): return isCreator ? writing ?? .allowed : .unknown
        case (.conversation, .read), (.conversation, .acknowledge), (.conversation, .leave), (.forum, .read),
            (_, .deleteOwnMessage), (.direct, .deleteCopy), (.call, .deleteCopy), (.conversation, .deleteCopy),
            (.direct, .deleteStream), (.call, .deleteStream):
            return .allowed
        // Both users have equal rights in a direct stream.
        case (.direct, .deleteOthersMessage), (.call, .deleteOthersMessage): return .unknown
        // The members own a conversation together, so it can be deleted after its creator left or was erased.
        case (.conversation, .deleteStream): return isCreator ? .allowed : writing ?? .allowed
        case (.conversation, .deleteOthersMessage), (.forum, .deleteOthersMessage), (.forum, .deleteStream):
            return isCreator ? .allowed : .unknown
        }
    }

    /// Why the user may not write; `nil` if the user may.
    private var writing: Verdict? { isBanned ? .banned : hasLevel ? nil : .levelTooLow }

    private func permission(isWriting: Bool) -> Verdict {
        switch partner {
        case .permitted: .allowed
        case .notPermitted: .closed
        case .notVerified: isWriting ? .partnerNotVerified : .allowed
        }
    }
}
