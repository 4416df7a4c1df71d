/// One request and its response, for logs. It contains no secret.
public struct Exchange: Sendable, Hashable {
    /// `GET`, `POST` and so on.
    public let method: String
    /// The path without its query.
    public let path: String
    /// The status of the response; `nil` if there was none.
    public let status: Int?
    /// From the request to the last byte of the response.
    public let duration: Duration
    /// The protocol that was used.
    public let messaging: Service.Messaging
}
