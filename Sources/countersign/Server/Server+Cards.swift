import API
import Delivery
import Domain
import Foundation
import Operations

/// The routes for identity cards.
extension Server {
    /// - Throws: ``CommandFailure`` if the issuer's service is configured and cannot be used.
    func cardRoutes() throws -> CardRoutes {
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
        var askIssuer: AskIssuer?
        if let issuer { askIssuer = { [environment] in await issuer($0, id: environment.newUUID()) } }
        return CardRoutes(service, askIssuer: askIssuer)
    }
}
