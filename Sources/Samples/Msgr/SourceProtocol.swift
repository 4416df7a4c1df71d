import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import SampleBackend

/// The calls of the original messenger, which send user name and password each time (`--source-protocol on`).
///
/// They are for clients that cannot be changed. A password in each request is in more memory, logs and proxies than one
/// in the first request, and such a client proves no device. So they are off by default. Countersign never gets a
/// password.
struct SourceProtocol: Sendable {
    let routes: MsgrRoutes

    func add(to router: Router<SampleContext>) {
        router.post("contacts") { request, context in
            let fields = try await request.decode(as: MsgrRoutes.Fields.self, context: context)
            let user = try await routes.authenticate(fields.username, "Username", fields.password)
            return try Response.json(try await routes.store.contacts(of: user))
        }
        router.post("add") { request, context in
            let fields = try await request.decode(as: MsgrRoutes.Fields.self, context: context)
            let user = try await routes.authenticate(fields.username, "Username", fields.password)
            return try await routes.add(fields, by: user)
        }
        router.post("message") { request, context in
            let fields = try await request.decode(as: MsgrRoutes.Fields.self, context: context)
            let user = try await routes.authenticate(fields.userFrom, "UserFrom", fields.password)
            return try await routes.send(fields, by: user)
        }
    }
}
