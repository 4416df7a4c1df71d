/// How long the service stores the messages that a user writes or gets. The raw values are the contract's.
package enum MessageStorage: String, Sendable, CaseIterable {
    /// Until a user deletes them or their stream.
    case keep
    /// Until all active devices of all members have them. It applies to whole streams, so one member decides for all.
    case untilDelivered = "until_delivered"

    /// How long a device is active after the last use of its session, in seconds.
    package static let activity: Double = 30 * 86_400
}
