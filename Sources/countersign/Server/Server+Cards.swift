import Delivery
import Domain
import Foundation
import Operations

/// The service that confirms a card's data.
extension Server {
    /// - Throws: ``CommandFailure`` if the issuer's service is configured and cannot be used.
    func askIssuer() throws -> AskIssuer? {
        let issuer: IssuerCheck?
        do {
            issuer = try IssuerCheck(
                policy[\.cards],
                secret: { try KeyFile(path: "\(settings.keys)/\($0)", isPrivate: true).read() },
                http: deliveryHTTPClient,
                now: environment.now)
        } catch let error as DeliveryError {
            throw CommandFailure(error.description)
        }
        guard let issuer else { return nil }
        return { [environment] in await issuer($0, id: environment.newUUID()) }
    }
}
