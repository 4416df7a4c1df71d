import Database
import Domain
import Foundation
import Repositories
import Tokens

/// Makes the Security Event Token of a message in a stream, pushed or polled.
package struct SignSecurityEvent: Sendable {
    let urls: ServiceURLs
    let keys: ServiceKeys

    package init(_ context: Service) {
        urls = context.urls
        keys = context.keys
    }

    /// An event that is ready to be signed.
    struct Unsigned: Sendable {
        let token: StreamEventToken
        let keys: AccessTokenKeys

        func signed() throws -> String { try token.signed(with: keys) }
    }

    /// Reads what a message says; `nil` if it cannot be read.
    func callAsFunction(
        _ message: OutboxMessage, of stream: EventStream, in transaction: any Transaction
    ) throws -> Unsigned? {
        guard let (event, cause) = StreamEvent.parse(message.payload) else { return nil }
        var user: User?
        if case .happened = event {
            guard let found = try UserRepository(transaction).find(message.userID) else { return nil }
            user = found
        }
        let token = StreamEventToken(
            identifier: message.id.description, issuer: urls.issuer, stream: stream, event: event, user: user,
            happenedAt: message.createdAt, cause: cause)
        return Unsigned(token: token, keys: keys.accessTokens)
    }
}
