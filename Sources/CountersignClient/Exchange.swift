/// One request and its answer, for logs and for those who want to watch. It holds no secret.
public struct Exchange: Sendable, Hashable {
    /// `GET`, `POST` and so on.
    public let method: String
    /// The path without its query.
    public let path: String
    /// The status of the answer; `nil` if none came.
    public let status: Int?
    /// From the request to the last byte of the answer.
    public let duration: Duration
    /// What carried it.
    public let messaging: Service.Messaging
}
