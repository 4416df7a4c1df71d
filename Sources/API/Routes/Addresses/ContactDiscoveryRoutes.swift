import Domain
import Encoding
import HTTPTypes
import Hummingbird
import Operations

/// Private contact discovery. Client listener, with a session.
struct ContactDiscoveryRoutes: Sendable {
    let service: Service

    func add(to router: ListedRouter<ClientContext>, behind session: RequireSession) {
        let discovery = router.group("contact-discovery").behind(session)
        discovery.get(cost: .read) { _, context in
            let week = try await service.discoveryWeek(for: try context.checkedSession)
            return Response.json([
                "suite": .string("P384-SHA384"), "week": .integer(week.week.number),
                "ends_at": .string(week.week.end.rfc3339), "public_key": .string(Base64URL.encode(week.publicKey)),
                "bits": .integer(Int64(week.bits)),
                "evaluations_per_day": .integer(Int64(service.policy[\.addresses].evaluationsPerDay)),
            ])
        }
        discovery.post("evaluations", cost: .heavy, use: evaluate)
        discovery.get("entries", cost: .heavy, query: ["week", "bucket", "bits", "after"], use: entries)
    }

    @Sendable private func evaluate(_ request: Request, _ context: ClientContext) async throws -> Response {
        var body = try await request.members(upTo: service.policy[\.requests].maximumBody)
        guard case .integer(let week) = try body.value("week") else {
            throw Refusal.memberMustBe("a whole number", "week")
        }
        guard case .array(let values) = try body.value("blinded") else {
            throw Refusal.memberMustBe("a list", "blinded")
        }
        try body.rejectUnknown()
        let blinded = try values.map { value throws(Refusal) in
            guard let bytes = value.text.flatMap({ Base64URL.decode($0) }) else {
                throw Refusal.memberMustBe("a list of base64url texts", "blinded")
            }
            return bytes
        }
        let evaluations = try await service.evaluateContacts(
            blinded, week: week, for: try context.checkedSession)
        return .json(["evaluations": .array(evaluations.map { .string(Base64URL.encode($0)) })])
    }

    @Sendable private func entries(_ request: Request, _ context: ClientContext) async throws -> Response {
        let query = request.uri.queryParameters
        func number(_ name: String) throws(Refusal) -> Int64 {
            guard let text = query[name[...]], text.utf8.count <= 12, let number = Int64(text), number >= 0 else {
                throw Refusal.parameterMustBe("a whole number of 0 or more", name)
            }
            return number
        }
        let after = try query["after"].map { text throws(Refusal) in
            guard let tag = Base64URL.decode(String(text)) else {
                throw Refusal.parameterMustBe("base64url", "after")
            }
            return tag
        }
        try await context.carrier.reserve(upTo: Service.largestDiscoveryPage)
        let page = try await service.discoveryEntries(
            week: try number("week"), bucket: Int(clamping: try number("bucket")),
            bits: Int(clamping: try number("bits")), after: after, for: try context.checkedSession)
        return .json([
            "entries": .string(Base64URL.encode(page.entries.flatMap(\.bytes))),
            "next": page.next.map { .string(Base64URL.encode($0)) } ?? .null,
        ])
    }
}
