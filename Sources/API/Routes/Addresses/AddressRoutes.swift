import Domain
import Encoding
import HTTPTypes
import Hummingbird
import Operations

/// Finding users by address, and the addresses by which a user can be found. Client listener, with a session.
struct AddressRoutes: Sendable {
    let service: Service
    let discovery: ContactDiscoveryRoutes

    init(_ service: Service) {
        self.service = service
        discovery = ContactDiscoveryRoutes(service: service)
    }

    func add(to router: ListedRouter<ClientContext>, behind session: RequireSession) {
        discovery.add(to: router, behind: session)
        let own = router.group("me/addresses").behind(session)
        own.get(cost: .read) { _, context in
            let shared = try await service.listAddresses(for: try context.checkedSession)
            return Response.json([
                "findable": .array(
                    shared.map { .object(["type": .string($0.type.rawValue), "since": .string($0.since.rfc3339)]) })
            ])
        }
        own.put(":type", cost: .write) { _, context in
            try await service.shareAddress(try context.parameters.require("type"), for: try context.checkedSession)
            return Response(status: .noContent)
        }
        own.delete(":type", cost: .write) { _, context in
            try await service.hideAddress(try context.parameters.require("type"), for: try context.checkedSession)
            return Response(status: .noContent)
        }
        let addresses = router.group("addresses").behind(session)
        addresses.post("resolve", cost: .write) { request, context in
            var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
            let address = try SoughtAddress(try members.string("address"))
            try members.rejectUnknown()
            return Response.json([
                "user_id": .id(try await service.resolveAddress(address, for: try context.checkedSession))
            ])
        }
    }
}
