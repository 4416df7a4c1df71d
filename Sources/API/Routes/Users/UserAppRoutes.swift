import Domain
import Encoding
import HTTPTypes
import Hummingbird
import Operations

/// The apps that may read a user's data. Client listener, with a session.
struct UserAppRoutes: Sendable {
    let service: Service

    func add(to router: ListedRouter<ClientContext>, behind session: RequireSession) {
        let apps = router.group("me/apps").behind(session)
        apps.get(cost: .read) { _, context in
            let session = try context.checkedSession
            let rows = try await service.listApps(for: session).map { one in
                JSONValue.object([
                    "app_id": .id(one.app.id), "name": .string(one.app.name), "sessions": .integer(Int64(one.sessions)),
                    "last_used_at": .text(one.lastUsedAt?.rfc3339), "forbidden_at": .text(one.forbiddenAt?.rfc3339),
                    "current": .bool(one.app.id == session.applicationID),
                ])
            }
            return Response.json(["apps": .array(rows)])
        }
        apps.put(":id", cost: .write) { _, context in
            try await service.allowApp(try context.parameters.require("id"), for: try context.checkedSession)
            return Response(status: .noContent)
        }
        apps.delete(":id", cost: .write) { _, context in
            try await service.forbidApp(try context.parameters.require("id"), for: try context.checkedSession)
            return Response(status: .noContent)
        }
    }
}
