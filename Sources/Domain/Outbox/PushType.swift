/// The member `type` in the data of a push, by which an app finds the subject of the push.
///
/// A provider's notification has none, because the provider chooses the names in its data.
package enum PushType: String, Sendable, CaseIterable {
    /// There are new messages in a stream.
    case message = "MESSAGE"
    /// Another user requests a permission.
    case request = "REQUEST"
    /// The other user granted the permission.
    case approval = "APPROVAL"
    case rejection = "REJECTED"
    /// Another user calls, and the device rings.
    case call = "CALL"
    /// A call no longer rings.
    case callEnd = "CALL_END"
}
