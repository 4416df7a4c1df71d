/// Who may do what to which kind of stream in which state: the one decision.
package struct MessageStreamRule: Sendable, Equatable {
    /// What a user does to a stream that is there. Opening one is decided like ``Action/append``.
    package enum Action: String, Sendable, CaseIterable {
        case append
        case read
        /// Receipts, and the user's private metadata.
        case acknowledge
        case addMember
        /// Removing another user.
        case removeMember
        case leave
        case changeMetadata
        case deleteOwnMessage
        case deleteOthersMessage
        case deleteStream
    }

    package enum Membership: String, Sendable, CaseIterable {
        case never
        case former
        case current
    }

    /// What is known of the other side of a direct stream. Elsewhere it is of no account.
    package enum Partner: String, Sendable, CaseIterable {
        /// There is an approved authorization between the two, and the other may take part.
        case permitted
        /// There is none, or not any more.
        case notPermitted
        /// There is one, and the other's level is too low.
        case notVerified
    }

    package enum Verdict: String, Sendable, CaseIterable {
        case allowed
        /// For this user there is no such stream or message.
        case unknown
        /// A ban keeps the user from messaging.
        case banned
        /// The user's level is too low.
        case levelTooLow
        case partnerNotVerified
        /// Nobody permits the two to message each other.
        case closed
        /// The user was removed: what came later is not theirs.
        case left
        /// A stream of this kind has no such thing.
        case fixed
    }

    package let kind: MessageStream.Kind
    package let isDeleted: Bool
    package let membership: Membership
    package let isCreator: Bool
    package let isBanned: Bool
    package let hasLevel: Bool
    package let partner: Partner

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

    /// The decision. A stranger learns nothing: neither that a stream exists, nor what state it is in.
    package func verdict(on action: Action) -> Verdict {
        if isDeleted || (kind != .forum && membership == .never) { return .unknown }
        if kind != .forum, membership == .former { return action == .read ? .allowed : .left }
        switch (kind, action) {
        case (.direct, .addMember), (.direct, .removeMember), (.direct, .leave), (.call, .addMember),
            (.call, .removeMember), (.call, .leave):
            return .fixed
        case (.forum, .addMember), (.forum, .removeMember), (.forum, .leave), (.forum, .acknowledge): return .fixed
        case (.direct, .append), (.direct, .changeMetadata), (.call, .append), (.call, .changeMetadata):
            return writing ?? permission(isWriting: true)
        case (.direct, .read), (.direct, .acknowledge), (.call, .read), (.call, .acknowledge):
            return permission(isWriting: false)
        case (.conversation, .append), (.conversation, .changeMetadata), (.conversation, .addMember),
            (.conversation, .removeMember), (.forum, .append):
            return writing ?? .allowed
        case (.forum, .changeMetadata): return isCreator ? writing ?? .allowed : .unknown
        case (.conversation, .read), (.conversation, .acknowledge), (.conversation, .leave), (.forum, .read),
            (_, .deleteOwnMessage), (.direct, .deleteStream), (.call, .deleteStream):
            return .allowed
        // In a direct stream both are equal.
        case (.direct, .deleteOthersMessage), (.call, .deleteOthersMessage): return .unknown
        case (.conversation, .deleteOthersMessage), (.conversation, .deleteStream), (.forum, .deleteOthersMessage),
            (.forum, .deleteStream):
            return isCreator ? .allowed : .unknown
        }
    }

    /// Why a user may write nothing; `nil` if the user may.
    private var writing: Verdict? { isBanned ? .banned : hasLevel ? nil : .levelTooLow }

    private func permission(isWriting: Bool) -> Verdict {
        switch partner {
        case .permitted: .allowed
        case .notPermitted: .closed
        case .notVerified: isWriting ? .partnerNotVerified : .allowed
        }
    }
}
